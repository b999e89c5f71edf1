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
import org.jspecify.annotations.Nullable;

/**
 * The processes that train one model: RANK and WORLD_SIZE in the environment say which and how many. They meet in a
 * file, which each run needs anew, and speak over loopback. If one is lost, {@link #sum} throws in the others.
 */
final class Ranks {

    private final int rank;
    private final int count;
    private final @Nullable Backend group;

    private Ranks(int rank, int count, @Nullable Backend group) {
        this.rank = rank;
        this.count = count;
        this.group = group;
    }

    /** @param meeting the file; not used by one rank */
    static Ranks of(Map<String, String> environment, String meeting) {
        int count = Integer.parseInt(environment.getOrDefault("WORLD_SIZE", "1"));
        int rank = Integer.parseInt(environment.getOrDefault("RANK", "0"));
        if (count == 1) {
            return new Ranks(0, 1, null);
        }
        if (meeting.isEmpty()) {
            throw new IllegalArgumentException("--meeting: needed by " + count + " ranks: a file that does not exist");
        }
        Loader.load(torch_gloo.class);
        ProcessGroupGloo.Options options = ProcessGroupGloo.Options.create();
        options.devices().push_back(ProcessGroupGloo.createDeviceForHostname("127.0.0.1"));
        return new Ranks(rank, count, new ProcessGroupGloo(new FileStore(meeting, count), rank, count, options));
    }

    int rank() {
        return rank;
    }

    int count() {
        return count;
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
