#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/test/resources/reference.npz: what PyTorch computes for the small model of TorchTest.

    python3 reference.py        # needs torch and numpy

Weights, tokens and documents follow formulas, which TorchTest repeats. The file holds the losses of three steps, and
every 13th element of the first step's gradients and of the weights after it, all tensors in a row. PyTorch computes in doubles, so that what differs is the rounding of the model under test.
"""
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH, SEQUENCES = 96, 32, 2, 2, 64, 2
RATE, STRIDE = 0.01, 13


def shapes():
    yield "wte.weight", (VOCABULARY, WIDTH)
    yield "wpe.weight", (CONTEXT, WIDTH)
    for layer in range(LAYERS):
        for name, shape in [("ln_1.weight", (WIDTH,)), ("ln_1.bias", (WIDTH,)),
                            ("attn.c_attn.weight", (WIDTH, 3 * WIDTH)), ("attn.c_attn.bias", (3 * WIDTH,)),
                            ("attn.c_proj.weight", (WIDTH, WIDTH)), ("attn.c_proj.bias", (WIDTH,)),
                            ("ln_2.weight", (WIDTH,)), ("ln_2.bias", (WIDTH,)),
                            ("mlp.c_fc.weight", (WIDTH, 4 * WIDTH)), ("mlp.c_fc.bias", (4 * WIDTH,)),
                            ("mlp.c_proj.weight", (4 * WIDTH, WIDTH)), ("mlp.c_proj.bias", (WIDTH,))]:
            yield f"h.{layer}.{name}", shape
    yield "ln_f.weight", (WIDTH,)
    yield "ln_f.bias", (WIDTH,)


def weights():
    """Element i of tensor t: 0.1 sin(0.7 i + t), plus 1 for the gains of norms."""
    made = {}
    for t, (name, shape) in enumerate(shapes()):
        values = 0.1 * np.sin(0.7 * np.arange(np.prod(shape)) + t)
        if len(shape) == 1 and name.endswith("weight"):
            values += 1
        values = values.astype(np.float32).astype(np.float64)
        made[name] = torch.tensor(values.reshape(shape), requires_grad=True)
    return made


def batch():
    """Documents of 11 tokens and a rest in each sequence; a document's last token has no label."""
    index = np.arange(SEQUENCES * CONTEXT)
    ids = index * 37 % 89
    place = index % CONTEXT
    positions = place % 11
    labels = np.where((positions == 10) | (place == CONTEXT - 1), -100, (ids * 5 + 3) % 89)
    return [torch.tensor(each.reshape(SEQUENCES, CONTEXT)) for each in (ids, positions, labels, place // 11)]


def loss_of(w, ids, positions, labels, documents):
    def norm(x, name):
        return F.layer_norm(x, (WIDTH,), w[name + ".weight"], w[name + ".bias"])

    def linear(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    mask = (documents[:, :, None] == documents[:, None, :]) & torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).tril()
    x = w["wte.weight"][ids] + w["wpe.weight"][positions]
    for layer in range(LAYERS):
        h = f"h.{layer}."
        qkv = linear(norm(x, h + "ln_1"), h + "attn.c_attn")
        q, k, v = (part.view(SEQUENCES, CONTEXT, HEADS, -1).transpose(1, 2) for part in qkv.split(WIDTH, 2))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
        x = x + linear(y.transpose(1, 2).reshape(SEQUENCES, CONTEXT, WIDTH), h + "attn.c_proj")
        x = x + linear(F.gelu(linear(norm(x, h + "ln_2"), h + "mlp.c_fc"), approximate="tanh"), h + "mlp.c_proj")
    logits = norm(x, "ln_f") @ w["wte.weight"].T
    return F.cross_entropy(logits.view(-1, VOCABULARY), labels.view(-1), ignore_index=-100)


def sampled(tensors):
    return np.concatenate([each.detach().numpy().ravel() for each in tensors])[::STRIDE].astype(np.float32)


def main():
    torch.set_num_threads(1)
    w = weights()
    optimizer = torch.optim.AdamW([
        {"params": [each for each in w.values() if each.dim() == 2], "weight_decay": 0.1},
        {"params": [each for each in w.values() if each.dim() == 1], "weight_decay": 0.0}],
        lr=RATE, betas=(0.9, 0.95), eps=1e-8)
    losses, saved = [], {}
    for step in range(3):
        optimizer.zero_grad()
        loss = loss_of(w, *batch())
        loss.backward()
        if step == 0:
            saved["gradients"] = sampled([each.grad for each in w.values()])
        torch.nn.utils.clip_grad_norm_(w.values(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step == 0:
            saved["weights"] = sampled(w.values())
    target = pathlib.Path(__file__).parent / "src/test/resources/reference.npz"
    np.savez(target, losses=np.array(losses), **saved)
    print(losses)


if __name__ == "__main__":
    main()
