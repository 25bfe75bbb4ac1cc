# What wgpu-py finds with its defaults.
import wgpu

for adapter in wgpu.gpu.enumerate_adapters_sync():
    print(adapter.info["backend_type"], adapter.info["device"])
adapter = wgpu.gpu.request_adapter_sync()
print("default:", adapter.info["backend_type"], adapter.info["device"])
adapter.request_device_sync()
