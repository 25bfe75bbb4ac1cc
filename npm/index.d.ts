/** The folder below which the driver is installed as in /usr. */
export const prefix: string;
/** The driver's manifest, as VK_DRIVER_FILES takes it. */
export const icd: string;
/** The program `tuff`. */
export const program: string;
/** Settings of the driver without `TUFF_`, in small letters: `{ threads: 1, gpu: 'g610' }`. */
export type Settings = Record<string, string | number>;
/** The environment of a child process whose only Vulkan driver is Tuff. */
export function environment(settings?: Settings): NodeJS.ProcessEnv;
/** Makes Tuff the only Vulkan driver of this process: call it before the first module that creates a Vulkan instance does so. */
export function use(settings?: Settings): void;
