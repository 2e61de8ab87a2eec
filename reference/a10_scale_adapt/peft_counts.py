"""Budgets of four ways to adapt a model.

Source: Lester et al. (2021); Li & Liang (2021); Hu et al. (2022); Houlsby et al. (2019).
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers

exercise = Exercise(
    "peft_counts",
    title="Compare the budgets",
    source="Lester et al. (2021); Li & Liang (2021); Hu et al. (2022); Houlsby et al. (2019)",
    minutes=30,
    hints=[
        "Write down what is trained in one layer, then ask how many layers have it: all of "
        "them, or is it there once?",
        "For `full` make a list for one layer: the matrices of attention and of the "
        "feed-forward network with their shapes, a bias for each, and the norms.",
        "With LoRA some numbers are frozen and some are trained. Both need memory, not equally "
        "much.",
    ],
)

GPT2 = [(768, 12), (1024, 24), (1280, 36), (1600, 48)]
LLAMA_LAYERS, LLAMA_WIDTH, LLAMA = 32, 4096, 6_738_415_616


@exercise.variant
def draw(rng):
    """d, L: width and layers of a GPT-2; p: vectors of a prefix; r: rank; m: bottleneck."""
    d, L = GPT2[rng.integers(4)]
    return {
        "d": d,
        "L": L,
        "p": int(rng.choice([5, 10, 20, 30])),
        "r": int(rng.choice([4, 8, 16])),
        "m": int(rng.choice([32, 48, 64])),
    }


@exercise.part(points=1, answer=Count())
def prompt(d, p):
    """Prompt tuning with p vectors."""
    return p * d


@prompt.misconception()
def prompt_in_all_layers(d, L, p):
    """The vectors are put in front of the embeddings, once."""
    return L * p * d


@prompt.misconception()
def prompt_keys_and_values(d, p):
    """A vector in front of the embeddings is one vector: keys and values are computed from it."""
    return 2 * p * d


@exercise.part(points=1, answer=Count())
def prefix(d, L, p):
    """Prefix tuning with p keys and values in every layer."""
    return 2 * L * p * d


@prefix.misconception()
def prefix_once_per_layer(d, L, p):
    """A key and a value are two vectors."""
    return L * p * d


@prefix.misconception()
def prefix_in_one_layer(d, p):
    """That is one layer: every layer has its own."""
    return 2 * p * d


@exercise.part(points=0.6, answer=Count())
def lora(d, L, r):
    """LoRA of rank r on W_Q and W_V."""
    return L * 2 * 2 * d * r


@lora.misconception()
def lora_on_one_matrix(d, L, r):
    """Two matrices are adapted in every layer."""
    return L * 2 * d * r


@lora.misconception()
def lora_on_four(d, L, r):
    """Only W_Q and W_V are adapted."""
    return L * 4 * 2 * d * r


@lora.misconception()
def lora_in_one_layer(d, r):
    """That is one layer."""
    return 4 * d * r


@exercise.part(points=0.7, answer=Count())
def adapters(d, L, m):
    """Two adapters with biases in every layer, with the bottleneck m."""
    return 2 * L * (2 * d * m + m + d)


@adapters.misconception()
def one_adapter(d, L, m):
    """Each layer has two."""
    return L * (2 * d * m + m + d)


@adapters.misconception()
def adapters_without_biases(d, L, m):
    """Their biases are missing."""
    return 2 * L * 2 * d * m


@exercise.part(points=0.7, answer=Count())
def full(d, L):
    """All weights of the layers."""
    return L * (12 * d * d + 13 * d)


@full.misconception()
def full_without_biases(d, L):
    """These are the matrices. Biases and layer norms have parameters, too."""
    return L * 12 * d * d


@full.misconception()
def full_without_norms(d, L):
    """The layer norms are missing: two in each layer, with a scale and a shift each."""
    return L * (12 * d * d + 9 * d)


@full.misconception()
def full_with_one_norm(d, L):
    """There are two layer norms in each layer."""
    return L * (12 * d * d + 11 * d)


@full.misconception()
def full_attention_alone(d, L):
    """That is attention. The feed-forward network is the larger part of a layer."""
    return L * (4 * d * d + 4 * d)


@exercise.part(points=0.5, answer=Numbers(unit="%"))
def percent(prompt, prefix, lora, adapters, full):
    """The four budgets in percent of the full count, in this order."""
    return 100 * np.array([prompt, prefix, lora, adapters]) / full


@percent.misconception()
def shares(prompt, prefix, lora, adapters, full):
    """These are shares: percent are a hundred times as much."""
    return np.array([prompt, prefix, lora, adapters]) / full


@exercise.part(points=0.25, answer=Count())
def llama(r):
    """LoRA of rank r on W_Q and W_V of Llama-2-7B: 32 layers of width 4096."""
    return LLAMA_LAYERS * 4 * LLAMA_WIDTH * r


@llama.misconception()
def llama_one_factor(r):
    """Two matrices with two factors each are adapted in every layer."""
    return LLAMA_LAYERS * 2 * LLAMA_WIDTH * r


@llama.misconception()
def llama_all_matrices(r):
    """Only W_Q and W_V are adapted."""
    return LLAMA_LAYERS * 8 * LLAMA_WIDTH * r


@exercise.part(points=0.25, answer=Numbers(unit="GB"))
def llama_memory(llama):
    """GB for training Llama-2-7B in full, 16 bytes each, and with LoRA, where W takes 2 bytes."""
    return np.array([16 * LLAMA, 2 * LLAMA + 16 * llama]) / 1e9


@llama_memory.misconception()
def frozen_forgotten(llama):
    """The frozen weights have to be there, too: two bytes each."""
    return np.array([16 * LLAMA, 16 * llama]) / 1e9


@llama_memory.misconception()
def memory_in_gib(llama):
    """These are GiB. A GB has 10⁹ bytes."""
    return np.array([16 * LLAMA, 2 * LLAMA + 16 * llama]) / 2**30


@llama_memory.misconception()
def half_of_it(llama):
    """Gradients and the optimiser's state are what is saved: count 16 bytes in full."""
    return np.array([4 * LLAMA, 2 * LLAMA + 4 * llama]) / 1e9
