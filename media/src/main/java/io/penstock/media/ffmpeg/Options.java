// SPDX-License-Identifier: Apache-2.0
package io.penstock.media.ffmpeg;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.os.DowncallFailure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** An {@code AVDictionary} of options for one call. */
final class Options implements AutoCloseable {

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment holder = arena.allocate(JAVA_LONG);

    Options set(String name, Object value) {
        try {
            int status = (int) Calls.DICT_SET.invokeExact(holder.address(), arena.allocateFrom(name).address(),
                    arena.allocateFrom(value.toString()).address(), 0);
            if (status < 0) {
                throw new OutOfMemoryError("av_dict_set");
            }
            return this;
        } catch (Throwable t) {
            throw DowncallFailure.of(t);
        }
    }

    /** The address of the dictionary's address. */
    long address() {
        return holder.address();
    }

    @Override
    public void close() {
        Calls.run(Calls.DICT_FREE, holder.address());
        arena.close();
    }
}
