"""Standard, fused and linear attention on this machine's GPU, against what the card can do.

For n = 512 … 65,536 in float32 and bfloat16: median milliseconds (fresh inputs for each call, the
L2 cache flushed), TFLOP/s or GB/s and their share of the card's measured ceiling (a large product
of matrices, a large copy), the exponents of time and of peak memory.  `fused` is torch's own
kernel, `linear` the reference of a08 as it is, and `causal` its causal form in chunks.  Rows of
each result are checked in float64.  Without CUDA it says so and ends; ``--device cpu`` is a trial
of the script, at small n.
"""

import argparse
import json
import secrets
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from autograder.exercise.checks.clocks import exponent
from autograder.exercise.checks.gpu_checks import fitted, furthest
from autograder.sandbox.meters.gpumeter import TimedFunction, draw

HEADS, DIM, CHUNK = 8, 64, 256
TOLERANCE = {"float32": 1e-4, "bfloat16": 3e-2}
_LARGEST = 4  # sizes that an exponent is taken from


def phi(x):
    return torch.nn.functional.elu(x) + 1


def standard(Q, K, V):
    return torch.softmax(Q @ K.mT * Q.shape[-1] ** -0.5, -1) @ V


def linear(Q, K, V):
    q, k = phi(Q), phi(K)
    return q @ (k.mT @ V) / (q @ k.sum(dim=-2).unsqueeze(-1))


def causal(Q, K, V):
    """Sum up whole chunks of earlier keys, and weigh those of the own chunk one by one."""
    q, k, v = (x.unflatten(-2, (-1, min(CHUNK, x.shape[-2]))) for x in (phi(Q), phi(K), V))
    inside = (q @ k.mT).tril()
    state, total = (k.mT @ v).float(), k.sum(dim=-2, dtype=torch.float32)
    before = (state.cumsum(-3) - state).to(q.dtype)
    weight = (total.cumsum(-2) - total).to(q.dtype).unsqueeze(-1)
    above = inside @ v + q @ before
    return (above / (inside.sum(-1, keepdim=True) + q @ weight)).flatten(-3, -2)


FUNCTIONS = {
    "standard": standard,
    "fused": torch.nn.functional.scaled_dot_product_attention,
    "linear": linear,
    "causal": causal,
}


def rows(name, i, Q, K, V):
    if name in ("standard", "fused"):
        return standard(Q[..., i, :], K, V)
    weights = phi(Q[..., i, :]) @ phi(K).mT
    if name == "causal":
        weights = weights * (torch.arange(K.shape[-2], device=K.device) <= i[:, None])
    return weights @ V / weights.sum(-1, keepdim=True)


def flops(name, n):
    """Return the operations that a method's products of matrices must do."""
    if name in ("standard", "fused"):
        return HEADS * 4 * n**2 * DIM
    return HEADS * 4 * n * DIM * (DIM + (min(CHUNK, n) if name == "causal" else 0))


def traffic(n, size):
    """Return the bytes that any of them must move: Q, K, V and the result, once."""
    return 4 * HEADS * n * DIM * size


def drawn_seeds(count):
    return [secrets.randbits(31) for _ in range(count)]


def measure(name, n, dtype, device, seconds):
    """Return median milliseconds, peak bytes, and how far rows of a result are off."""
    shape = (1, HEADS, n, DIM)
    bench = TimedFunction(FUNCTIONS[name], shape, 3, dtype, device)
    kept = max(1, (8 << 30) // (HEADS * n * DIM * 4))
    estimate = statistics.median(bench.go(drawn_seeds(min(3, kept))))
    seeds = drawn_seeds(max(5, min(100, kept, int(1000 * seconds / max(estimate, 1e-3)))))
    times = bench.go(seeds)
    index = torch.tensor([0, n // 3, n - 1])
    given = bench.rows(len(seeds) - 1, index.numpy())
    bench.settle()
    inputs = (x.double() for x in draw(shape, 3, dtype, seeds[-1], device))
    off = furthest(given, rows(name, index.to(device), *inputs).cpu().numpy())
    assert off < TOLERANCE[dtype], f"{name}, n = {n}, {dtype}: off by {off:.2g}"
    return statistics.median(times), bench.peak(seeds[0]), off


def ceilings(device, dtype):
    """Return the FLOP/s of a large product of matrices and the bytes/s of a large copy."""
    side = 8192 if device == "cuda" else 512
    product = TimedFunction(lambda a, b: a @ b, (side, side), 2, dtype, device)
    fastest = min(product.go(drawn_seeds(10)))
    del product
    copy = TimedFunction(lambda a: a.clone(), (4 * side, side), 1, dtype, device)
    size = torch.empty((), dtype=getattr(torch, dtype)).element_size()
    moved = 2 * 4 * side**2 * size
    return 2 * side**3 / (fastest / 1000), moved / (min(copy.go(drawn_seeds(10))) / 1000)


def powers(times, peaks):
    """Return the exponents of time and memory over the largest sizes, where there are some."""
    last = {n: [peak] for n, peak in list(peaks.items())[-_LARGEST:] if peak > 0}
    time = fitted({n: ms / 1000 for n, ms in times.items()}, complete=True)
    return {
        "time": None if time is None else round(time, 2),
        "memory": round(exponent(last), 2) if len(last) == _LARGEST else None,
    }


def measured(dtype, sizes, device, seconds):
    """Measure all functions in one precision, and print what came."""
    size = torch.empty((), dtype=getattr(torch, dtype)).element_size()
    most_flops, most_bytes = ceilings(device, dtype)
    print(f"{dtype}: {most_flops / 1e12:.1f} TFLOP/s, {most_bytes / 1e9:.0f} GB/s measured")
    found = {"flops": most_flops, "bytes": most_bytes, "rows": []}
    for name in FUNCTIONS:
        times, peaks = {}, {}
        for n in sizes:
            try:
                ms, peak, off = measure(name, n, dtype, device, seconds)
            except torch.OutOfMemoryError:
                torch.cuda.empty_cache()
                print(f"  {name:9}{n:7}  does not fit", flush=True)
                break
            times[n], peaks[n] = ms, peak
            row = {
                "name": name,
                "n": n,
                "ms": round(ms, 4),
                "peak": peak,
                "off": float(f"{off:.2g}"),
            }
            row["tflops"] = round(flops(name, n) / ms / 1e9, 3)
            row["gbs"] = round(traffic(n, size) / ms / 1e6, 1)
            row["of flops"] = round(1e12 * row["tflops"] / most_flops, 4)
            row["of bytes"] = round(1e9 * row["gbs"] / most_bytes, 4)
            found["rows"].append(row)
            print(
                f"  {name:9}{n:7}{ms:10.3f} ms{row['tflops']:9.2f} TFLOP/s {row['of flops']:6.1%}"
                f"{row['gbs']:9.1f} GB/s {row['of bytes']:6.1%}{peak / 2**20:10.1f} MiB",
                flush=True,
            )
        found[name] = powers(times, peaks)
        print(f"  {name}: n to the power of {found[name]}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--largest", type=int, help="n; 65,536 by default, on a processor 1024")
    parser.add_argument("--seconds", type=float, default=0.25, help="for each cell of the table")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = options.device
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit(f"no CUDA device (torch {torch.__version__}): nothing is measured")
    if device == "cpu":
        torch.set_num_threads(1)
    card = torch.cuda.get_device_name() if device == "cuda" else "processor (a trial)"
    largest = options.largest or (65536 if device == "cuda" else 1024)
    sizes = [2**i for i in range(9 if device == "cuda" else 6, largest.bit_length())]
    found = {"card": card, "torch": torch.__version__, "heads": HEADS, "dim": DIM, "dtypes": {}}
    print(card, "torch", torch.__version__)
    for dtype in TOLERANCE:
        found["dtypes"][dtype] = measured(dtype, sizes, device, options.seconds)
        if options.out:
            options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
