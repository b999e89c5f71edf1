// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.CodecException;
import io.penstock.io.SpanReader;
import io.penstock.memory.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the sound of a clip to {@code f32[channels, samples]}. The session is told the sample's number first.
 *
 * @param index the files' packets
 * @param plan which clips there are
 * @param times which frames a clip has, whose first one's time is that of the sound; null for clips of sound alone
 * @param rate samples a second that files must have
 * @param channels the channels that files must have
 * @param samples of a channel of a clip
 * @param tooShort what becomes of short sound; with frames, silence is before its begin and behind its end
 * @param maxClipPackets the packets that may be decoded for a clip
 * @param decoded counts the packets that were decoded
 * @param used counts the packets that have wanted samples
 * @param isolation the CPU time of a clip in a process of its own; null to decode in this one
 */
record SoundMap(ClipIndex index, ClipPlan plan, @Nullable ClipTimes times, int rate, int channels, int samples,
        TooShort tooShort, int maxClipPackets, LongAdder decoded, LongAdder used,
        @Nullable Duration isolation) implements SampleMap {

    @Override
    public void map(Tensor in, RandomGenerator random, Tensor out) {
        throw new IllegalStateException("a clip is decoded by a session, which knows the sample");
    }

    /** True: only Java code reads the file's bytes; it copies packets into the library's memory. */
    @Override
    public boolean readsInPlace() {
        return true;
    }

    /** True: the packets of the clip. */
    @Override
    public boolean readsRanges() {
        return true;
    }

    @Override
    public Optional<Mapper> open() {
        return Optional.of(new Session(this));
    }

    private static final class Session implements Mapper {

        private static final PacketRuns NONE = new PacketRuns();

        private final SoundMap map;
        private final SoundClipReader reader;
        /** Decodes what needs FFmpeg instead of the reader, which then only knows the index. */
        private final @Nullable IsolatedDecoder isolated;
        private final PacketTable video = new PacketTable();
        private long sample;
        /** Of {@link #begin}: the first sample, and the part of the clip that there is sound for. */
        private boolean isBegun;
        private long start;
        private int from;
        private int to;
        private PacketRuns runs = NONE;

        Session(SoundMap map) {
            this.map = map;
            reader = new SoundClipReader(map.maxClipPackets);
            isolated = map.isolation == null ? null : new IsolatedDecoder(map.isolation);
        }

        @Override
        public void beside(MemorySegment value, long offset, long bytes) {
            isBegun = false;
            sample = value.get(JAVA_LONG_UNALIGNED, offset);
        }

        /** Chooses the clip's samples, and returns the first byte of the packets that they need. */
        @Override
        public long begin(long inBytes, RandomGenerator random) throws IOException {
            long file = map.plan.video(sample);
            SoundTable table = reader.load(map.index.bytes(), map.index.soundOffset(file),
                    map.index.soundByteSize(file));
            check(table, inBytes);
            start = start(file, table, random);
            // The part of the clip that there is sound for.
            from = (int) Math.max(0, Math.min(map.samples, -start));
            to = (int) Math.max(from, Math.min(map.samples, table.samples - start));
            if (to - from < map.samples && map.times == null && map.tooShort == TooShort.REFUSE) {
                throw new CodecException("sound of " + table.samples + " samples", map.samples + " or more");
            }
            isBegun = true;
            runs = from == to ? NONE : reader.runs((int) (start + from), to - from);
            return runs.first();
        }

        @Override
        public long end(long inBytes) {
            return runs.end();
        }

        @Override
        public SpanReader.Runs runs() {
            return runs;
        }

        @Override
        public void map(MemorySegment in, long inOffset, long inBytes, RandomGenerator random, MemorySegment out,
                long outOffset, long outBytes, PartClock clock) throws IOException {
            if (!isBegun) {
                begin(inBytes, random);
            }
            isBegun = false;
            long channelBytes = (long) map.samples * Float.BYTES;
            if (to - from < map.samples) {
                out.asSlice(outOffset, outBytes).fill((byte) 0);
            }
            if (from < to) {
                decode(in, inOffset, out, outOffset + (long) from * Float.BYTES, channelBytes);
                map.used.add(reader.packets((int) (start + from), to - from));
            }
            if (map.times == null && map.tooShort == TooShort.WRAP) {
                wrap(to, out, outOffset, channelBytes);
            }
        }

        private void decode(MemorySegment in, long inOffset, MemorySegment out, long outOffset, long channelBytes)
                throws IOException {
            long file = map.plan.video(sample);
            int sampleOfFile = (int) (start + from);
            if (isolated == null || !reader.needsLibrary()) {
                long before = reader.decodedPackets();
                try {
                    reader.read(map.index.bytes(), map.index.soundOffset(file), in, inOffset, sampleOfFile, to - from,
                            out, outOffset, channelBytes);
                } finally {
                    map.decoded.add(reader.decodedPackets() - before);
                }
                return;
            }
            long at;
            try {
                at = isolated.sound(map.index.bytes(), map.index.soundOffset(file), map.index.soundByteSize(file), in,
                        inOffset, runs.first(), runs.end(), sampleOfFile, to - from, map.channels, map.maxClipPackets);
            } finally {
                map.decoded.add(isolated.decodedPackets());
            }
            long bytes = (long) (to - from) * Float.BYTES;
            for (int channel = 0; channel < map.channels; channel++) {
                MemorySegment.copy(isolated.memory(), at + channel * bytes, out, outOffset + channel * channelBytes,
                        bytes);
            }
        }

        private void check(SoundTable table, long bytes) throws CodecException {
            if (table.fileBytes != bytes) {
                throw new CodecException("a file of " + bytes + " bytes", table.fileBytes
                        + ", as when its index was made");
            }
            if (table.rate != map.rate || table.channels != map.channels) {
                throw new CodecException("sound of " + table.channels + " channels, " + table.rate
                        + " samples a second", map.channels + " of " + map.rate + ", as the first file has");
            }
        }

        /** The first sample of the clip; below 0 if that is before the first. */
        private long start(long file, SoundTable table, RandomGenerator random) throws CodecException {
            ClipTimes times = map.times;
            if (times == null) {
                return map.plan.start(sample, starts(table, map.samples), random);
            }
            video.load(map.index.bytes(), map.index.offset(file), map.index.byteSize(file));
            int frame = map.plan.start(sample, times.starts(video), random);
            if (frame >= video.frames) {
                throw new CodecException("a video of 0 frames", "some");
            }
            return TimeStamps.sample(video.pts[video.packetOf[frame]], video.numerator, video.denominator, map.rate,
                    true) - table.time;
        }

        private void wrap(int length, MemorySegment out, long outOffset, long channelBytes) {
            for (int channel = 0; channel < map.channels; channel++) {
                long at = outOffset + channel * channelBytes;
                for (int from = length; from < map.samples; from += length) {
                    MemorySegment.copy(out, at, out, at + (long) from * Float.BYTES,
                            (long) Math.min(length, map.samples - from) * Float.BYTES);
                }
            }
        }

        @Override
        public void close() {
            reader.close();
            if (isolated != null) {
                isolated.close();
            }
        }
    }

    /** Counts the samples at which a clip can begin and fit; 0 if the sound is too short. */
    static int starts(SoundTable table, int samples) {
        return Math.max(0, table.samples - samples + 1);
    }
}
