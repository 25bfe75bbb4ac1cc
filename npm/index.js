'use strict';
// Where the driver is, and how programs find it.
const path = require('node:path');

const MACHINES = { x64: 'x86_64', arm64: 'aarch64' };

/** The folder below which the driver is installed as in /usr. */
const prefix = path.join(__dirname, 'prefix');
/** The driver's manifest, as VK_DRIVER_FILES takes it. */
const icd = path.join(prefix, `share/vulkan/icd.d/tuff_icd.${MACHINES[process.arch]}.json`);
/** The program `tuff`. */
const program = path.join(prefix, 'bin/tuff');

/**
 * The environment of a child process whose only Vulkan driver is Tuff. Settings are those of the driver without `TUFF_`, in small
 * letters: `environment({ threads: 1, gpu: 'g610' })`.
 */
function environment(settings = {}) {
  const changed = { VK_DRIVER_FILES: icd, VK_ICD_FILENAMES: icd };
  // Programs that use wgpu ignore a driver without a conformance version.
  changed.TUFF_CONFORMANCE = process.env.TUFF_CONFORMANCE ?? '1.4.0.0';
  for (const [name, value] of Object.entries(settings)) {
    changed[`TUFF_${name.toUpperCase()}`] = String(value);
  }
  return { ...process.env, ...changed };
}

/** Makes Tuff the only Vulkan driver of this process: call it before the first module that creates a Vulkan instance does so. */
function use(settings = {}) {
  Object.assign(process.env, environment(settings));
}

module.exports = { prefix, icd, program, environment, use };
