"""Standard, fused and linear attention on this machine's GPU, against what the card can do.

For n = 512 … 65,536 in float32 and bfloat16: median milliseconds (the L2 cache flushed before each
call, fresh inputs in turn), TFLOP/s or GB/s and their share of the card's measured ceiling (a large
product of matrices, a large copy), the exponents of time and of peak memory.  Rows of each result
are checked in float64.  Without CUDA it says so and ends; ``--device cpu`` is a trial of the
script, at small n.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from autograder.exercise.gpu_checks import fitted
from autograder.sandbox.meters.gpumeter import TimedFunction, draw

HEADS, DIM = 8, 64
TOLERANCE = {"float32": 2e-3, "bfloat16": 3e-2}


def phi(x):
    return torch.nn.functional.elu(x) + 1


def standard(Q, K, V):
    return torch.softmax(Q @ K.mT * Q.shape[-1] ** -0.5, -1) @ V


def linear(Q, K, V):
    q, k = phi(Q), phi(K)
    z = k.sum(-2, dtype=torch.float32).to(q.dtype)[..., None]
    return (q @ (k.mT @ V)) / (q @ z)


FUNCTIONS = {
    "standard": standard,
    "sdpa": torch.nn.functional.scaled_dot_product_attention,
    "linear": linear,
}


def rows(name, i, Q, K, V):
    if name != "linear":
        return standard(Q[..., i, :], K, V)
    weights = phi(Q[..., i, :]) @ phi(K).mT
    return weights @ V / weights.sum(-1, keepdim=True)


def flops(name, n):
    return HEADS * (4 * n * DIM**2 if name == "linear" else 4 * n**2 * DIM)


def traffic(n, size):
    """Return the bytes that any of them must move: Q, K, V and the result, once."""
    return 4 * HEADS * n * DIM * size


def measure(name, n, dtype, device, seconds):
    shape, seeds = (1, HEADS, n, DIM), [n, n + 1, n + 2]
    bench = TimedFunction(FUNCTIONS[name], shape, 3, dtype, seeds, device)
    estimate = statistics.median(bench.go(3)["milliseconds"])
    found = bench.go(max(7, min(100, int(1000 * seconds / max(estimate, 1e-3)))))
    index = torch.tensor([0, n // 3, n - 1])
    inputs = (x.double() for x in draw(shape, 3, dtype, seeds[found["last"]], device))
    right = rows(name, index.to(device), *inputs).cpu()
    off = (torch.from_numpy(bench.rows(index.numpy())).double() - right).norm() / right.norm()
    assert off < TOLERANCE[dtype], f"{name}, n = {n}, {dtype}: off by {off:.2g}"
    return statistics.median(found["milliseconds"]), bench.peak()


def ceilings(device, dtype):
    """Return the FLOP/s of a large product of matrices and the bytes/s of a large copy."""
    kind = getattr(torch, dtype)
    side = 8192 if device == "cuda" else 512
    shape = (side, side)
    product = TimedFunction(lambda a, b: a @ b, shape, 2, dtype, [0, 1], device)
    copy = TimedFunction(lambda a: a.clone(), (4 * side, side), 1, dtype, [0, 1], device)
    size = torch.empty((), dtype=kind).element_size()
    return (
        2 * side**3 / (min(product.go(20)["milliseconds"]) / 1000),
        2 * 4 * side**2 * size / (min(copy.go(20)["milliseconds"]) / 1000),
    )


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
        size = torch.empty((), dtype=getattr(torch, dtype)).element_size()
        most_flops, most_bytes = ceilings(device, dtype)
        print(f"{dtype}: {most_flops / 1e12:.1f} TFLOP/s, {most_bytes / 1e9:.0f} GB/s measured")
        of = found["dtypes"][dtype] = {"flops": most_flops, "bytes": most_bytes, "rows": []}
        for name in FUNCTIONS:
            times, peaks = {}, {}
            for n in sizes:
                try:
                    ms, peak = measure(name, n, dtype, device, options.seconds)
                except torch.cuda.OutOfMemoryError:
                    torch.cuda.empty_cache()
                    print(f"  {name:9}{n:7}  does not fit")
                    break
                times[n], peaks[n] = [ms / 1000], peak
                row = {"name": name, "n": n, "ms": ms, "peak": peak}
                row["tflops"] = flops(name, n) / ms / 1e9
                row["gbs"] = traffic(n, size) / ms / 1e6
                row["share"] = max(1e12 * row["tflops"] / most_flops, 1e9 * row["gbs"] / most_bytes)
                of["rows"].append(row)
                print(
                    f"  {name:9}{n:7}{ms:10.3f} ms{row['tflops']:9.2f} TFLOP/s"
                    f"{row['gbs']:9.1f} GB/s{row['share']:7.1%}{peak / 2**20:10.1f} MiB"
                )
            power = fitted(times)
            last = {n: [peak] for n, peak in list(peaks.items())[-4:] if peak > 0}
            of[name] = {"time": power, "memory": fitted_all(last)}
            print(f"  {name}: time n^{power or float('nan'):.2f}, memory n^{of[name]['memory']}")
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


def fitted_all(peaks):
    from autograder.exercise.clocks import exponent

    return round(exponent(peaks), 2) if len(peaks) > 2 else None


if __name__ == "__main__":
    main()
