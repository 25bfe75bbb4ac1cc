#!/usr/bin/env node
'use strict';
const { spawnSync } = require('node:child_process');
const { program } = require('./index.js');

const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: 'inherit' });
if (error) {
  console.error(`tuff: ${error.message}`);
}
if (signal) {
  process.kill(process.pid, signal);
}
process.exit(status ?? 1);
