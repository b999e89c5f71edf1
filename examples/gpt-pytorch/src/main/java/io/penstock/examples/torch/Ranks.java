// SPDX-License-Identifier: Apache-2.0
package io.penstock.examples.torch;

import java.util.Map;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Backend;
import org.bytedeco.pytorch.FileStore;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;
import org.bytedeco.pytorch.global.torch_gloo;
import org.bytedeco.pytorch.nccl.ProcessGroupNCCL;
import org.jspecify.annotations.Nullable;

/**
 * The processes that train one model: RANK and WORLD_SIZE in the environment say which and how many, and LOCAL_RANK
 * which GPU of the machine is this one's. They meet in a file, which each run needs anew. On the CPU they speak by Gloo
 * over loopback, on GPUs by NCCL. If one is lost, {@link #sum} throws in the others.
 */
final class Ranks {

    private final int rank;
    private final int count;
    private final int gpu;
    private final @Nullable Backend group;

    private Ranks(int rank, int count, int gpu, @Nullable Backend group) {
        this.rank = rank;
        this.count = count;
        this.gpu = gpu;
        this.group = group;
    }

    /**
     * Meets the others.
     *
     * @param meeting the file; not used by one rank
     * @param isOnGpus whether tensors to be summed are on GPUs
     */
    static Ranks of(Map<String, String> environment, String meeting, boolean isOnGpus) {
        int count = Integer.parseInt(environment.getOrDefault("WORLD_SIZE", "1"));
        int rank = Integer.parseInt(environment.getOrDefault("RANK", "0"));
        int gpu = Integer.parseInt(environment.getOrDefault("LOCAL_RANK", count == 1 ? "0" : String.valueOf(rank)));
        if (count == 1) {
            return new Ranks(0, 1, gpu, null);
        }
        if (meeting.isEmpty()) {
            throw new IllegalArgumentException("--meeting: needed by " + count + " ranks: a file that does not exist");
        }
        FileStore store = new FileStore(meeting, count);
        return new Ranks(rank, count, gpu, isOnGpus ? nccl(store, rank, count) : gloo(store, rank, count));
    }

    private static Backend gloo(FileStore store, int rank, int count) {
        Loader.load(torch_gloo.class);
        ProcessGroupGloo.Options options = ProcessGroupGloo.Options.create();
        options.devices().push_back(ProcessGroupGloo.createDeviceForHostname("127.0.0.1"));
        return new ProcessGroupGloo(store, rank, count, options);
    }

    private static Backend nccl(FileStore store, int rank, int count) {
        try {
            return new ProcessGroupNCCL(store, rank, count);
        } catch (LinkageError | TypeNotPresentException e) {
            throw new IllegalArgumentException("--device cuda with " + count + " ranks: found no ProcessGroupNCCL in"
                    + " these presets (" + e + "), expected org.bytedeco:pytorch with the classifier linux-x86_64-gpu,"
                    + " and org.bytedeco:cuda on the class path", e);
        }
    }

    int rank() {
        return rank;
    }

    int count() {
        return count;
    }

    /** The GPU of this machine that is this rank's. */
    int gpu() {
        return gpu;
    }

    /** Puts the sum over all ranks into a tensor. */
    void sum(Tensor tensor) {
        if (group != null) {
            try (PointerScope _ = new PointerScope()) {
                Work work = group.allreduce(new TensorVector(tensor));
                work._wait();
            }
        }
    }
}
