# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader on the benchmarks' stores; a round for each line of standard input, as rounds.py says.

    echo 2 0 0 | python bench/peers/torch_loader.py --workload tokens --store target/bench/tokens.bin --workers 2
"""

import argparse
import sys

import torch
from torch.utils.data import DataLoader

import rounds
from torch_datasets import WORKLOADS, check, sum_words, tensors_of, without_end


def loader_class(name):
    if name == "DataLoader":
        return DataLoader
    from torchdata.stateful_dataloader import StatefulDataLoader
    return StatefulDataLoader


def check_contract(workload, mode, dataset):
    """What the first batch must be, where there is something to be wrong about."""
    def checked(batch):
        tensors = tensors_of(batch)
        assert all(tensor.is_contiguous() for tensor in tensors)
        if workload == "tokens":
            check(batch, mode, dataset.batch_samples, dataset.length)
        elif workload == "images":
            assert tensors[0].dtype == (torch.float32 if mode == "f32" else torch.uint8) and tensors[0].dim() == 4
        elif workload == "documents":
            ids, mask, lengths = tensors
            assert (ids.dtype, mask.dtype, lengths.dtype) == (torch.int64, torch.bool, torch.int32)
            assert ids.shape == mask.shape and torch.equal(mask.sum(1), lengths)
    return checked


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", choices=WORKLOADS, default="tokens")
    parser.add_argument("--store", help="the workload's file; documents by their prefix")
    parser.add_argument("--mode", default="i64", help="tokens: narrow, i32, i64; images: u8, f32")
    parser.add_argument("--fetch", default="item", help="the dataset, see torch_datasets.py")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0, help="torch threads; 0 leaves the default")
    parser.add_argument("--sharing", default="file_system", help="how workers hand tensors over; PyTorch's own choice "
                        "is file_descriptor, which is slower")
    parser.add_argument("--loader", choices=["DataLoader", "StatefulDataLoader"], default="DataLoader")
    options = parser.parse_args()

    if options.threads:
        torch.set_num_threads(options.threads)
    torch.multiprocessing.set_sharing_strategy(options.sharing)
    torch.manual_seed(0)
    dataset = WORKLOADS[options.workload][options.fetch](options.store, mode=options.mode)
    ready = options.fetch == "ready"
    loader = loader_class(options.loader)(
        dataset, batch_size=None if ready else dataset.batch_samples, shuffle=options.workload != "empty",
        drop_last=not ready, num_workers=options.workers, persistent_workers=options.workers > 0,
        pin_memory=torch.cuda.is_available(), collate_fn=dataset.collate)
    rounds.serve(without_end(loader), dataset.batch_samples, sum_words,
                 check_contract(options.workload, options.mode, dataset))


if __name__ == "__main__":
    sys.exit(main())
