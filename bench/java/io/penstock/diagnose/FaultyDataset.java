// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * A dataset with a fault in its way: where a sample is looked up, as in a store that is far away, or where it is
 * decoded. Otherwise the dataset that it wraps.
 */
final class FaultyDataset implements Dataset {

    private final Dataset sound;
    private final LongConsumer locating;
    private final LongConsumer decoding;
    private final ThreadLocal<Long> located = ThreadLocal.withInitial(() -> 0L);

    /**
     * Any fault may be null.
     *
     * @param locating what happens when a sample is looked up, by its index
     * @param decoding what happens when it is decoded; without it, samples are as they are stored
     */
    FaultyDataset(Dataset sound, LongConsumer locating, LongConsumer decoding) {
        this.sound = sound;
        this.locating = locating;
        this.decoding = decoding;
    }

    /** The sample that the calling thread reads. */
    long located() {
        return located.get();
    }

    @Override
    public long size() {
        return sound.size();
    }

    @Override
    public List<TensorSpec> fields() {
        return sound.fields();
    }

    @Override
    public FieldSource source(int field) {
        FieldSource.Stored stored = (FieldSource.Stored) sound.source(field);
        FieldSource.Place place = (sample, into) -> {
            located.set(sample);
            if (locating != null) {
                locating.accept(sample);
            }
            stored.place().locate(sample, into);
        };
        return decoding == null ? FieldSource.stored(place) : new FieldSource.Decoded(place, new FaultyDecoder());
    }

    @Override
    public long maxLength(int field) {
        return sound.maxLength(field);
    }

    @Override
    public String fingerprint() {
        return sound.fingerprint();
    }

    private final class FaultyDecoder implements Decoder, Decoder.Session {

        @Override
        public TensorSpec field(Column column) {
            return fields().getFirst();
        }

        @Override
        public Session open() {
            return this;
        }

        @Override
        public long byteSize(MemorySegment stored, long storedBytes) {
            return storedBytes;
        }

        @Override
        public void decode(MemorySegment stored, long storedBytes, MemorySegment target, long targetOffset,
                long targetBytes) {
            decoding.accept(located());
            MemorySegment.copy(stored, 0, target, targetOffset, targetBytes);
        }

        @Override
        public void close() {
            // Holds nothing.
        }
    }
}
