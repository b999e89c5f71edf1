// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.penstock.dataset.source.SampleMap;
import io.penstock.dataset.source.SampleMap.PartClock;
import io.penstock.error.CodecException;
import io.penstock.image.ImageFit;
import io.penstock.io.SpanReader;
import io.penstock.media.ffmpeg.Decoder;
import io.penstock.media.ffmpeg.DecoderLimits;
import io.penstock.memory.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the clip of a sample from the bytes of its video. The session is told the sample's number first.
 *
 * @param index the videos' packets
 * @param plan which clips there are
 * @param times which frames a clip has
 * @param fit the size of frames
 * @param isChannelsFirst whether the result is {@code CTHW} instead of {@code TCHW}
 * @param isUpright whether frames are turned upright
 * @param limits what files may ask for
 * @param maxClipPackets the packets that may be decoded for a clip
 * @param decoded counts the packets that were decoded
 * @param used counts the frames that were wanted
 * @param isolation the CPU time of a clip in a process of its own; null to decode in this one
 */
record ClipMap(ClipIndex index, ClipPlan plan, ClipTimes times, ImageFit fit, boolean isChannelsFirst,
        boolean isUpright, DecoderLimits limits, int maxClipPackets, LongAdder decoded, LongAdder used,
        @Nullable Duration isolation) implements SampleMap {

    private static final int CHANNELS = 3;

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

    private static final class Session implements Mapper, ClipReader.FrameSink {

        private static final long NONE = -1;
        /** The place of a clip that was not planned. */
        private static final long UNKNOWN = -1;

        private final ClipMap map;
        private final ClipReader reader;
        /** Decodes instead of the reader, which then only knows the index. */
        private final @Nullable IsolatedDecoder isolated;
        private final FramePixels pixels;
        private final FramePixels.Target target;
        private final int length;
        /** The clips of the batch that are to come: each one's sample and place, whether it is there; its frames. */
        private int rows;
        private long[] samples = {NONE};
        private long[] places = {0};
        private boolean[] isDone = {false};
        private boolean[] isMember = {false};
        private int[] chosen;
        private int[] wanted;
        private MemorySegment planned = MemorySegment.NULL;
        private long sample;
        /** Of {@link #begin}: the present row, -1 before it, and the bytes that are read. */
        private int row = -1;
        private final PacketRuns runs = new PacketRuns();
        private int rotation;
        private MemorySegment out = MemorySegment.NULL;

        Session(ClipMap map) {
            this.map = map;
            length = map.times.frames();
            reader = new ClipReader(map.limits, map.maxClipPackets, true);
            isolated = map.isolation == null ? null : new IsolatedDecoder(map.isolation);
            pixels = new FramePixels(map.fit);
            chosen = new int[length];
            wanted = new int[length];
            long plane = (long) map.fit.height() * map.fit.width();
            target = new FramePixels.Target(map.isChannelsFirst ? plane * length : plane, map.fit.width(), 1);
        }

        @Override
        public void beside(MemorySegment value, long offset, long bytes) {
            row = -1;
            sample = value.get(JAVA_LONG_UNALIGNED, offset);
        }

        /** True if a video has several clips in an epoch: those that need the same packets are decoded together. */
        @Override
        public boolean plans() {
            return map.plan.choice() != ClipPlan.Choice.RANDOM;
        }

        @Override
        public void plan(int number, MemorySegment to, long toOffset) {
            if (samples.length <= number) {
                samples = Arrays.copyOf(samples, 2 * number);
                places = Arrays.copyOf(places, 2 * number);
                isDone = Arrays.copyOf(isDone, 2 * number);
                isMember = Arrays.copyOf(isMember, 2 * number);
                chosen = Arrays.copyOf(chosen, 2 * number * length);
                wanted = Arrays.copyOf(wanted, 2 * number * length);
            }
            planned = to;
            rows = number + 1;
            samples[number] = sample;
            places[number] = toOffset;
            isDone[number] = false;
        }

        /** Chooses the clip's frames, and returns the first byte of the packets that they need. */
        @Override
        public long begin(long inBytes, RandomGenerator random) throws IOException {
            row = find();
            if (row < 0) {
                plan(0, planned, UNKNOWN);
                row = 0;
            }
            runs.clear();
            if (isDone[row]) {
                return 0;
            }
            long video = map.plan.video(sample);
            PacketTable table = reader.load(map.index.bytes(), map.index.offset(video), map.index.byteSize(video));
            if (table.fileBytes != inBytes) {
                throw new CodecException("a file of " + inBytes + " bytes", table.fileBytes
                        + ", as when its index was made");
            }
            rotation = map.isUpright ? table.rotation : 0;
            Arrays.fill(isMember, 0, rows, false);
            choose(row, sample, table, random);
            isMember[row] = true;
            addMembers(video, table, random);
            return runs.first();
        }

        @Override
        public long end(long inBytes) {
            return runs.end();
        }

        @Override
        public void map(MemorySegment in, long inOffset, long inBytes, RandomGenerator random, MemorySegment to,
                long toOffset, long outBytes, PartClock clock) throws IOException {
            if (row < 0) {
                begin(inBytes, random);
            }
            int now = row;
            row = -1;
            samples[now] = NONE;
            if (isDone[now]) {
                return;
            }
            if (to != planned || places[now] != toOffset) {
                // Not planned: alone.
                Arrays.fill(isMember, 0, rows, false);
                isMember[now] = true;
                places[now] = toOffset;
            }
            out = to;
            decode(now, in, inOffset);
        }

        /** Finds the present sample among those planned, the first that is to come. */
        private int find() {
            for (int i = 0; i < rows; i++) {
                if (samples[i] == sample) {
                    return i;
                }
            }
            return -1;
        }

        private void decode(int now, MemorySegment in, long inOffset) throws IOException {
            long entry = map.index.offset(map.plan.video(sample));
            int members = 0;
            for (int i = 0; i < rows; i++) {
                members += isMember[i] ? 1 : 0;
            }
            try {
                decodeMembers(entry, in, inOffset);
            } catch (CodecException e) {
                if (members == 1) {
                    throw e;
                }
                // Only the clip that touches the damage is bad: the others are decoded when their turn comes.
                Arrays.fill(isMember, 0, rows, false);
                isMember[now] = true;
                decodeMembers(entry, in, inOffset);
            }
            for (int i = 0; i < rows; i++) {
                isDone[i] |= isMember[i];
            }
        }

        private void choose(int at, long of, PacketTable table, RandomGenerator random) {
            map.times.choose(table, map.plan.start(of, map.times.starts(table), random), chosen, at * length);
        }

        /** Adds the clips whose packets overlap those of the clips that are members, and finds the bytes of all. */
        private void addMembers(long video, PacketTable table, RandomGenerator random) {
            int from = reader.firstPacket(chosen, row * length, length);
            int last = reader.lastPacket(chosen, row * length, length);
            for (int other = 0; other < rows; other++) {
                if (isMember[other] || isDone[other] || samples[other] == NONE
                        || map.plan.video(samples[other]) != video || !isChosen(other, table, random)) {
                    continue;
                }
                int begin = reader.firstPacket(chosen, other * length, length);
                int behind = reader.lastPacket(chosen, other * length, length);
                if (begin <= last && behind >= from
                        && Math.max(behind, last) - Math.min(begin, from) < map.maxClipPackets) {
                    from = Math.min(begin, from);
                    last = Math.max(behind, last);
                    isMember[other] = true;
                    other = -1;
                }
            }
            from = reader.leastPacket(from);
            for (int i = from; i <= last; i++) {
                runs.add(table.position[i], table.size[i]);
            }
        }

        @Override
        public SpanReader.Runs runs() {
            return runs;
        }

        private boolean isChosen(int at, PacketTable table, RandomGenerator random) {
            try {
                choose(at, samples[at], table, random);
                return true;
            } catch (CodecException _) {
                return false;
            }
        }

        private void decodeMembers(long entry, MemorySegment in, long inOffset) throws IOException {
            int all = 0;
            for (int i = 0; i < rows; i++) {
                if (isMember[i]) {
                    System.arraycopy(chosen, i * length, wanted, all, length);
                    int end = distinct(all, all + length);
                    map.used.add(end - all);
                    all = end;
                }
            }
            int count = distinct(0, all);
            if (isolated != null) {
                decodeIsolated(isolated, entry, in, inOffset, count);
                return;
            }
            long before = reader.decodedPackets();
            try {
                reader.read(map.index.bytes(), entry, in, inOffset, wanted, count, this);
            } finally {
                map.decoded.add(reader.decodedPackets() - before);
            }
        }

        private void decodeIsolated(IsolatedDecoder by, long entry, MemorySegment in, long inOffset, int count)
                throws IOException {
            long at;
            try {
                at = by.frames(map.index.bytes(), entry, map.index.byteSize(map.plan.video(sample)), in, inOffset,
                        runs.first(), runs.end(), wanted, count, rotation, map.fit, map.limits, map.maxClipPackets);
            } finally {
                map.decoded.add(by.decodedPackets());
            }
            long plane = (long) map.fit.height() * map.fit.width();
            for (int number = 0; number < count; number++) {
                spread(number, null, by.memory(), at + CHANNELS * plane * number);
            }
        }

        /** Sorts wanted frames and leaves out repeated ones; returns the end of what is left. */
        private int distinct(int from, int to) {
            Arrays.sort(wanted, from, to);
            int count = from;
            for (int i = from; i < to; i++) {
                if (count == from || wanted[count - 1] != wanted[i]) {
                    wanted[count++] = wanted[i];
                }
            }
            return count;
        }

        @Override
        public void take(int number, Decoder decoder) throws IOException {
            spread(number, decoder, MemorySegment.NULL, 0);
        }

        /** Puts a frame, of a decoder or decoded, where clips have it. */
        private void spread(int number, @Nullable Decoder decoder, MemorySegment made, long madeAt) {
            long plane = (long) map.fit.height() * map.fit.width();
            long written = -1;
            for (int i = 0; i < rows; i++) {
                for (int t = 0; isMember[i] && t < length; t++) {
                    if (chosen[i * length + t] != wanted[number]) {
                        continue;
                    }
                    long place = places[i] + t * frameStep();
                    if (written >= 0) {
                        copy(out, written, target.plane(), place);
                    } else if (decoder != null) {
                        pixels.write(decoder, rotation, out, place, target);
                    } else {
                        copy(made, madeAt, plane, place);
                    }
                    written = place;
                }
            }
        }

        private long frameStep() {
            long plane = (long) map.fit.height() * map.fit.width();
            return map.isChannelsFirst ? plane : plane * CHANNELS;
        }

        private void copy(MemorySegment from, long at, long step, long to) {
            long plane = (long) map.fit.height() * map.fit.width();
            for (int channel = 0; channel < CHANNELS; channel++) {
                MemorySegment.copy(from, at + channel * step, out, to + channel * target.plane(), plane);
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
}
