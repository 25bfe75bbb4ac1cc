"""A small convolutional network with random weights on ncnn's Vulkan backend, in fp16 storage, packing and arithmetic.

Arguments: the number of inferences. The network is written by this program; its answer must be near what ncnn computes
without Vulkan, in 32 bits. Prints the largest values of the answer, one a line: `NAME VALUE`.
"""

import pathlib
import struct
import sys
import tempfile

import ncnn
import numpy as np

RUNS = int(sys.argv[1])
SIZE = 128
# Channels in, channels out, stride.
LAYERS = [(3, 32, 2), (32, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1)]


def network(folder):
    """Writes the network's two files, and gives their paths."""
    random = np.random.default_rng(1)
    lines = [f"Input input 0 1 data 0={SIZE} 1={SIZE} 2=3"]
    weights = b""
    blob = "data"
    for i, (inputs, outputs, stride) in enumerate(LAYERS):
        count = outputs * inputs * 9
        # 3x3, padded by 1, with bias and a fused ReLU.
        lines.append(
            f"Convolution conv{i} 1 1 {blob} c{i} 0={outputs} 1=3 3={stride} 4=1 5=1 6={count} 9=1"
        )
        kernel = random.normal(0, (2 / (inputs * 9)) ** 0.5, count).astype("<f4")
        bias = random.normal(0, 0.1, outputs).astype("<f4")
        weights += struct.pack("<I", 0) + kernel.tobytes() + bias.tobytes()
        blob = f"c{i}"
    lines.append(f"Pooling mean 1 1 {blob} answer 0=1 4=1")
    param = folder / "net.param"
    param.write_text("7767517\n" + f"{len(lines)} {len(lines)}\n" + "\n".join(lines) + "\n")
    model = folder / "net.bin"
    model.write_bytes(weights)
    return param, model


def answer(folder, vulkan, runs):
    """What the network makes of one picture, computed so many times."""
    param, model = network(folder)
    net = ncnn.Net()
    net.opt.use_vulkan_compute = vulkan
    for option in ["use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic"]:
        setattr(net.opt, option, vulkan)
    net.opt.use_bf16_storage = False
    net.opt.num_threads = 1
    if net.load_param(str(param)) != 0 or net.load_model(str(model)) != 0:
        sys.exit("ncnn does not load the network")
    y, x = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    picture = np.stack([np.sin(9 * x), np.cos(7 * y), x * y]).astype(np.float32)
    for _ in range(runs):
        run = net.create_extractor()
        run.input("data", ncnn.Mat(picture))
        code, out = run.extract("answer")
        if code != 0:
            sys.exit(f"ncnn's extract gives {code}")
    return np.array(out).flatten()


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    if ncnn.get_gpu_count() == 0:
        sys.exit("ncnn found no Vulkan device")
    got = answer(folder, True, RUNS)
    want = answer(folder, False, 1)
off = float(np.abs(got - want).max() / np.abs(want).max())
if not off < 0.02:
    sys.exit(f"the answer is off by {off:.4f} of its largest value")
for i in np.argsort(-want)[:8]:
    print(f"answer_{i} {got[i]:.4f}")
ncnn.destroy_gpu_instance()
