"""Three small nets, compiled by IREE (PyPI's `iree-base-compiler`) and run by its Vulkan backend, beside its own CPU backend.

Arguments: a net's name (`mlp`, `convolutions` or `attention`), and how often it is run. Weights and inputs are random numbers of
a fixed seed. Prints `NMSE VALUE`, the squared error by the squares of what the CPU backend computes of the same numbers; and wall
time of one run in milliseconds, the least of all: of Vulkan, and of the CPU backend with one thread.
"""

import sys
import time

import iree.compiler as compiler
import iree.runtime as runtime
import numpy as np


def tensor(*sizes):
    return "tensor<" + "x".join(map(str, sizes)) + "xf32>"


class Net:
    """A function of MLIR that grows operation by operation."""

    def __init__(self):
        self.shapes, self.lines, self.count = [], [], 0

    def argument(self, *shape):
        self.shapes.append(shape)
        return f"%a{len(self.shapes) - 1}", shape

    def add(self, shape, text):
        """An operation of linalg with its result, which begins as zero; `{out}` is its place in the text."""
        n = self.count
        self.count += 1
        self.lines += [
            f"%s{n} = arith.constant 0.0 : f32",
            f"%e{n} = tensor.empty() : {tensor(*shape)}",
            f"%f{n} = linalg.fill ins(%s{n} : f32) outs(%e{n} : {tensor(*shape)}) -> {tensor(*shape)}",
            f"%r{n} = " + text.replace("{out}", f"outs(%f{n} : {tensor(*shape)}) -> {tensor(*shape)}"),
        ]
        return f"%r{n}", shape

    def product(self, a, b):
        (x, s), (y, t) = a, b
        ins = f"ins({x}, {y} : {tensor(*s)}, {tensor(*t)})"
        return self.add((s[0], t[1]), f"linalg.matmul {ins} {{out}}")

    def product_of_transposed(self, a, b):
        (x, s), (y, t) = a, b
        maps = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>"
        ins = f"ins({x}, {y} : {tensor(*s)}, {tensor(*t)})"
        return self.add((s[0], t[0]), f"linalg.matmul indexing_maps = [{maps}] {ins} {{out}}")

    def convolution(self, image, kernel):
        (x, s), (k, t) = image, kernel
        shape = (s[0], s[1] - t[0] + 1, s[2] - t[1] + 1, t[3])
        ins = f"ins({x}, {k} : {tensor(*s)}, {tensor(*t)})"
        return self.add(shape, f"linalg.conv_2d_nhwc_hwcf {ins} {{out}}")

    def larger(self, a):
        """The larger of each number and zero."""
        x, s = a
        n = self.count
        self.count += 1
        self.lines += [
            f"%z{n} = arith.constant dense<0.0> : {tensor(*s)}",
            f"%r{n} = arith.maximumf {x}, %z{n} : {tensor(*s)}",
        ]
        return f"%r{n}", s

    def softmax(self, a):
        x, s = a
        n = self.count
        self.count += 1
        t = tensor(*s)
        self.lines += [
            f"%e{n} = tensor.empty() : {t}",
            f"%r{n} = linalg.softmax dimension({len(s) - 1}) ins({x} : {t}) outs(%e{n} : {t}) -> {t}",
        ]
        return f"%r{n}", s

    def text(self, result):
        arguments = ", ".join(f"%a{i}: {tensor(*s)}" for i, s in enumerate(self.shapes))
        body = "\n  ".join(self.lines)
        return (
            f"func.func @main({arguments}) -> {tensor(*result[1])} {{\n  {body}\n"
            f"  return {result[0]} : {tensor(*result[1])}\n}}\n"
        )


def mlp(net):
    x = net.argument(64, 784)
    for width in (512, 256):
        x = net.larger(net.product(x, net.argument(x[1][1], width)))
    return net.product(x, net.argument(256, 10))


def convolutions(net):
    x = net.argument(1, 34, 34, 8)
    for channels in (32, 32, 64):
        x = net.larger(net.convolution(x, net.argument(3, 3, x[1][3], channels)))
    return x


def attention(net):
    x = net.argument(128, 64)
    queries, keys, values = (net.product(x, net.argument(64, 64)) for _ in range(3))
    return net.product(net.softmax(net.product_of_transposed(queries, keys)), values)


NETS = {"mlp": mlp, "convolutions": convolutions, "attention": attention}


def to_host(device, array):
    """The numbers of an array of the device. (Its own `to_host` fails where a device imports memory of pages alone.)"""
    view = array._buffer_view
    source = view.get_buffer()
    buffer = device.allocator.allocate_buffer(
        memory_type=int(runtime.MemoryType.HOST_LOCAL | runtime.MemoryType.DEVICE_VISIBLE),
        allowed_usage=int(runtime.BufferUsage.TRANSFER_TARGET | runtime.BufferUsage.MAPPING_SCOPED),
        allocation_size=source.byte_length(),
    )
    done = device.create_semaphore(0)
    fences = [runtime.HalFence.create_at(done, i) for i in (0, 1)]
    device.queue_copy(source, buffer, wait_semaphores=fences[0], signal_semaphores=fences[1])
    fences[1].wait()
    return buffer.map().asarray(view.shape, np.dtype(np.float32)).copy()


def run(text, backend, options, driver, inputs, times):
    """The result, and milliseconds of one run."""
    code = compiler.compile_str(text, target_backends=[backend], extra_args=options)
    config = runtime.Config(driver)
    module = runtime.VmModule.copy_buffer(config.vm_instance, code)
    main = runtime.load_vm_module(module, config)["main"]
    arrays = [runtime.asdevicearray(config.device, a) for a in inputs]
    best = float("inf")
    for _ in range(times):
        before = time.perf_counter()
        result = to_host(config.device, main(*arrays))
        best = min(best, time.perf_counter() - before)
    return result.astype(np.float64), best * 1e3


def main():
    name, times = sys.argv[1], int(sys.argv[2])
    net = Net()
    text = net.text(NETS[name](net))
    rng = np.random.default_rng(1)
    inputs = [(rng.standard_normal(s) / np.sqrt(np.prod(s[:-1]))).astype(np.float32) for s in net.shapes]
    cpu = ["--iree-llvmcpu-target-cpu=host"]
    expected, own = run(text, "llvm-cpu", cpu, "local-sync", inputs, times)
    found, device = run(text, "vulkan-spirv", [], "vulkan", inputs, times)
    print(f"NMSE {((found - expected) ** 2).sum() / (expected**2).sum():.1e}")
    print(f"{name}: device {device:.2f} ms, CPU backend {own:.2f} ms", flush=True)


main()
