// What Deno's WebGPU finds, and that it computes.
const adapter = await navigator.gpu?.requestAdapter();
console.log("device:", adapter ? adapter.info.description : null);
if (adapter) {
    const device = await adapter.requestDevice();
    const code = `@group(0) @binding(0) var<storage, read_write> b: array<u32>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) i: vec3u) { b[i.x] = i.x * 3; }`;
    const module = device.createShaderModule({ code });
    const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
    const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
    const buffer = device.createBuffer({ size: 16, usage: STORAGE | COPY_SRC });
    const out = device.createBuffer({ size: 16, usage: COPY_DST | MAP_READ });
    const entries = [{ binding: 0, resource: { buffer } }];
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(1);
    pass.end();
    encoder.copyBufferToBuffer(buffer, 0, out, 0, 16);
    device.queue.submit([encoder.finish()]);
    await out.mapAsync(GPUMapMode.READ);
    const words = new Uint32Array(out.getMappedRange()).join();
    if (words !== "0,3,6,9") throw new Error(words);
}
