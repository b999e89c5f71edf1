// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import io.penstock.internal.Sha256;
import io.penstock.sampling.Edit.Excise;
import io.penstock.sampling.Edit.ExciseSamples;
import io.penstock.sampling.Edit.Repeat;
import io.penstock.sampling.Edit.Reweigh;
import io.penstock.sampling.Edit.Until;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The orders of a run that was edited. Its epochs are {@link EditedOrder}s, whose sizes differ; {@link #size} is that
 * of the order without edits.
 *
 * <p>Memory and look-ups depend on the number of edits and of samples that are left out, not on the data. Where samples
 * are left out of an order that has no inverse, such as a mixture, an epoch is scanned once when it is first needed.
 */
final class EditedSampler implements Sampler {

    private static final int SCANNED_AT_ONCE = 4096;
    private static final int DIGEST_DIGITS = 16;
    /** Of a stream's records each one's place is computed. */
    private static final int MOST_RECORDS = 1 << 20;

    private final Sampler base;
    /** The order with the weights that were changed. */
    private final Sampler drawn;
    private final OrderCache orders;
    private final List<Edit> edits;
    private final byte[] digest;
    /** All but changes of weights, which {@link #drawn} has. */
    private final List<Edit> cuts;
    /** The samples that are left out: the first of each range, the index after its last, and its edit in the cuts. */
    private final TreeMap<Long, long[]> samples = new TreeMap<>();
    /** What is given again in each epoch, in the order of their positions. */
    private final Map<Long, List<Again>> again = new HashMap<>();
    private final @Nullable Until until;
    /** From this epoch on all epochs have one size. */
    private final long alikeFrom;

    /** Positions that an edit gives again: from the first one on, behind all before it. */
    private record Again(Repeat edit, long first) {

        long end() {
            return first + edit.end() - edit.from();
        }

        /** Whether they are the end of the epoch, instead of being given before an earlier position. */
        boolean isLast() {
            return edit.position() >= first;
        }
    }

    private EditedSampler(Sampler base, Sampler drawn, List<Edit> edits, byte[] digest) {
        this.base = base;
        this.drawn = drawn;
        this.orders = new OrderCache(drawn);
        this.edits = edits;
        this.digest = digest;
        this.cuts = edits.stream().filter(edit -> !(edit instanceof Reweigh)).toList();
        long alike = 0;
        Until last = null;
        for (int i = 0; i < cuts.size(); i++) {
            switch (cuts.get(i)) {
                case Excise cut -> alike = Math.max(alike, cut.ofEpoch() + 1);
                case Repeat repeat -> {
                    List<Again> of = again.computeIfAbsent(repeat.epoch(), _ -> new ArrayList<>());
                    of.add(new Again(repeat, endOf(of)));
                    alike = Math.max(alike, repeat.epoch() + 1);
                }
                case ExciseSamples cut -> {
                    exclude(cut.from(), cut.end(), i);
                    alike = base instanceof Sampler.Arriving stream ? Math.max(alike, lastEpoch(stream, cut) + 1)
                            : hasInverse() ? Math.max(alike, cut.epoch() + 1) : Sampler.MAX_SIZE;
                }
                case Until end -> last = end;
                case Reweigh _ -> { }
            }
        }
        this.until = last;
        this.alikeFrom = last == null ? alike : Math.max(alike, last.endEpoch() + 1);
    }

    private static long lastEpoch(Sampler.Arriving stream, ExciseSamples cut) {
        long last = cut.epoch();
        for (long sample = cut.from(); sample < cut.end(); sample++) {
            last = Math.max(last, stream.placeOf(sample) / stream.size());
        }
        return last;
    }

    /** Returns an order with edits, in place of those that it may have. */
    static Sampler of(Sampler sampler, List<Edit> edits) {
        EditedSampler known = sampler instanceof EditedSampler edited ? edited : null;
        Sampler base = known == null ? sampler : known.base;
        if (edits.isEmpty()) {
            return base;
        }
        int from = 0;
        Sampler drawn = base;
        byte[] digest = new byte[Sha256.digest().getDigestLength()];
        if (known != null && known.edits.size() <= edits.size()
                && known.edits.equals(edits.subList(0, known.edits.size()))) {
            from = known.edits.size();
            drawn = known.drawn;
            digest = known.digest;
        }
        List<Edit> added = edits.subList(from, edits.size());
        if (base instanceof Sampler.Arriving stream) {
            checkStream(stream, added);
        } else {
            drawn = reweighed(drawn, edits, added);
        }
        digest = digest(digest, added);
        return new EditedSampler(base, drawn, List.copyOf(edits), digest);
    }

    /** The source of a stream draws by changed weights itself. */
    private static void checkStream(Sampler.Arriving stream, List<Edit> edits) {
        for (Edit edit : edits) {
            if (edit instanceof Repeat) {
                throw new IllegalArgumentException("steps are given again in a stream, expected stores: its records are"
                        + " not kept");
            }
            if (edit instanceof ExciseSamples cut && cut.end() - cut.from() > MOST_RECORDS) {
                throw new IllegalArgumentException("records " + cut.from() + " to " + (cut.end() - 1) + " of a stream,"
                        + " expected at most " + MOST_RECORDS + " at once; leave out their steps");
            }
            if (edit instanceof Reweigh change && change.weights().size() > stream.weights().size()) {
                throw new IllegalArgumentException(stream.weights().isEmpty()
                        ? "weights were changed in a stream that is not a mixture: " + stream.fingerprint()
                        : change.weights().size() + " weights of a stream, expected at most one for each of the "
                                + stream.weights().size() + " sources that it mixes");
            }
        }
    }

    /** Adds the changes of weights in the order of their draws, of equal ones the last one made. */
    private static Sampler reweighed(Sampler drawn, List<Edit> edits, List<Edit> added) {
        List<Reweigh> changes = added.stream().filter(Reweigh.class::isInstance).map(Reweigh.class::cast).toList();
        if (changes.isEmpty()) {
            return drawn;
        }
        if (!(drawn instanceof Mixture mixture)) {
            throw new IllegalArgumentException("weights were changed in an order that is not a mixture: "
                    + drawn.fingerprint());
        }
        if (!mixture.canAdd(changes)) {
            mixture = mixture.original();
            changes = edits.stream().filter(Reweigh.class::isInstance).map(Reweigh.class::cast)
                    .sorted((a, b) -> a.epoch() != b.epoch() ? Long.compare(a.epoch(), b.epoch())
                            : Long.compare(a.position(), b.position())).toList();
        }
        return mixture.reweighed(changes);
    }

    /** Adds a range of samples, less what earlier edits have left out. */
    private void exclude(long from, long end, int edit) {
        long at = from;
        Map.Entry<Long, long[]> before = samples.floorEntry(from);
        if (before != null) {
            at = Math.max(at, before.getValue()[0]);
        }
        while (at < end) {
            Map.Entry<Long, long[]> next = samples.ceilingEntry(at);
            long stop = next == null ? end : Math.min(end, next.getKey());
            if (stop > at) {
                samples.put(at, new long[] {stop, edit});
            }
            at = next == null ? end : next.getValue()[0];
        }
    }

    /** Returns the edit that leaves a sample out; -1 if there is none. */
    private int excludedBy(long sample) {
        Map.Entry<Long, long[]> range = samples.floorEntry(sample);
        return range != null && sample < range.getValue()[0] ? (int) range.getValue()[1] : -1;
    }

    /** Whether the position of a sample is computed, and each is there once in every epoch. */
    private boolean hasInverse() {
        return drawn instanceof SequentialSampler || orders.of(0) instanceof Permutation;
    }

    private static byte[] digest(byte[] before, List<Edit> added) {
        byte[] digest = before;
        MessageDigest sha256 = Sha256.digest();
        for (Edit edit : added) {
            sha256.update(digest);
            switch (edit) {
                case Excise cut -> add(sha256, 1, edit, cut.ofEpoch(), cut.from(), cut.end());
                case ExciseSamples cut -> add(sha256, 2, edit, cut.from(), cut.end());
                case Repeat repeat -> add(sha256, 3, edit, repeat.ofEpoch(), repeat.from(), repeat.end());
                case Until until -> add(sha256, 4, edit, until.endEpoch(), until.end());
                case Reweigh change -> add(sha256, change.isFeedback() ? 6 : 5, edit, change.weights().stream()
                        .mapToLong(weight -> Double.doubleToRawLongBits(weight)).toArray());
            }
            digest = sha256.digest();
        }
        return digest;
    }

    private static void add(MessageDigest sha256, long kind, Edit edit, long... numbers) {
        ByteBuffer bytes = ByteBuffer.allocate((3 + numbers.length) * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN)
                .putLong(kind).putLong(edit.epoch()).putLong(edit.position());
        for (long number : numbers) {
            bytes.putLong(number);
        }
        sha256.update(bytes.array());
    }

    List<Edit> edits() {
        return edits;
    }

    /** Returns the order as the program gave it. */
    Sampler base() {
        return base;
    }

    /** Returns the weights that edits gave a stream's sources last; null if none did. */
    @Nullable List<Double> lastWeights() {
        return edits.stream().filter(Reweigh.class::isInstance).map(edit -> ((Reweigh) edit).weights())
                .reduce((_, later) -> later).orElse(null);
    }

    Sampler drawn() {
        return drawn;
    }

    /** Returns the position that the run ends before, if it is in this epoch; otherwise 0. */
    long endPosition(long epoch) {
        return until != null && until.endEpoch() == epoch ? until.end() : 0;
    }

    /** Returns the epoch from which on all have one size. */
    long alikeFrom() {
        return alikeFrom;
    }

    /** Returns the first epoch of which nothing is given. */
    long endEpoch() {
        return until == null ? epochs() : Math.min(epochs(), until.end() == 0 ? until.endEpoch()
                : until.endEpoch() + 1);
    }

    @Override
    public long size() {
        return base.size();
    }

    @Override
    public long datasetSize() {
        return base.datasetSize();
    }

    @Override
    public long seed() {
        return base.seed();
    }

    @Override
    public long augmentationSeed() {
        return base.augmentationSeed();
    }

    @Override
    public long epochs() {
        return drawn.epochs();
    }

    @Override
    public String fingerprint() {
        return base.fingerprint() + suffix();
    }

    /** Returns what a fingerprint has of the edits. */
    String suffix() {
        return " edits=" + edits.size() + ":" + HexFormat.of().formatHex(digest).substring(0, DIGEST_DIGITS);
    }

    @Override
    public String toString() {
        return fingerprint();
    }

    private List<Again> again(long epoch) {
        return again.getOrDefault(epoch, List.of());
    }

    /** Returns the position behind all of an epoch, of which these are given again. */
    private long endOf(List<Again> all) {
        return all.isEmpty() ? size() : all.getLast().end();
    }

    /** Returns which of those that are given again a position is one of; their number if it is behind all. */
    private static int indexOf(List<Again> all, long position) {
        int low = 0;
        int high = all.size();
        while (low < high) {
            int middle = low + high >>> 1;
            if (all.get(middle).end() <= position) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Returns the sample at a position, which may be one of those that are given again. */
    private long sample(long epoch, long position) {
        if (position < size()) {
            return orders.of(epoch).at(position);
        }
        List<Again> all = again(epoch);
        int index = indexOf(all, position);
        if (index == all.size()) {
            throw new IndexOutOfBoundsException("position " + position + " of epoch " + epoch + ", expected 0 to "
                    + (endOf(all) - 1));
        }
        Again of = all.get(index);
        return sample(of.edit.ofEpoch(), of.edit.from() + position - of.first);
    }

    /**
     * Returns the draw that a position stands before: itself, or for one of those that are given again the one that
     * they are given before.
     */
    long drawAt(long epoch, long position) {
        List<Again> all = again(epoch);
        long at = position;
        while (at >= size()) {
            int index = indexOf(all, at);
            if (index == all.size() || all.get(index).isLast()) {
                return size();
            }
            at = all.get(index).edit.position();
        }
        return at;
    }

    /** Returns the place of a position in an epoch, or of the next one that is given. */
    long placeOf(EditedOrder order, long epoch, long position) {
        long at = position;
        while (true) {
            long limit = at < size() ? size() : endOfRepeat(epoch, at);
            long place = order.placeOf(at, limit);
            if (place < order.size() || at < size()) {
                return place;
            }
            at = drawAt(epoch, at);                     // nothing is left of what is given again
            if (at >= size()) {
                return order.size();
            }
        }
    }

    /** Returns the position after those that are given again together with one: that were put in at the same place. */
    private long endOfRepeat(long epoch, long position) {
        List<Again> all = again(epoch);
        int last = indexOf(all, position);
        while (last + 1 < all.size() && before(all.get(last + 1)) == before(all.get(last))) {
            last++;
        }
        return last < all.size() ? all.get(last).end() : endOf(all);
    }

    private long before(Again of) {
        return of.isLast() ? size() : of.edit.position();
    }

    @Override
    public EditedOrder epoch(long epoch) {
        if (epoch >= endEpoch()) {
            return new EditedOrder(new Given(epoch), List.of(), size());
        }
        var pieces = new Pieces(epoch);
        return new EditedOrder(new Given(epoch), pieces.list, pieces.end);
    }

    /** The samples of the positions of an epoch, also of those that are given again. */
    private final class Given implements Order {

        private final long epoch;
        private final boolean isStream = base instanceof Sampler.Arriving && !samples.isEmpty();

        Given(long epoch) {
            this.epoch = epoch;
        }

        @Override
        public long size() {
            return EditedSampler.this.size();
        }

        @Override
        public long at(long position) {
            return checked(position, sample(epoch, position));
        }

        @Override
        public void fill(long first, long stride, int count, long[] into) {
            orders.of(epoch).fill(first, stride, count, into);
            if (isStream) {
                for (int i = 0; i < count; i++) {
                    checked(first + i * stride, into[i]);
                }
            }
        }

        /** A record of a stream comes elsewhere than expected if its window was cut short, or a lane ended before. */
        private long checked(long position, long sample) {
            int number = isStream ? excludedBy(sample) : -1;
            if (number >= 0) {
                Edit edit = cuts.get(number);
                if (epoch > edit.epoch() || epoch == edit.epoch() && position >= edit.position()) {
                    throw new IllegalStateException("record " + sample + " is left out, but comes at position "
                            + position + " of epoch " + epoch + ": its window was not full, or a lane had ended; leave"
                            + " out its step instead");
                }
            }
            return sample;
        }
    }

    /** The pieces of an epoch, one edit after the other. */
    private final class Pieces {

        private final long epoch;
        /** The first position of each, and the one after its last, in the order in which they are given. */
        private List<long[]> list = new ArrayList<>();
        /** The position after all. */
        private long end = size();

        Pieces(long epoch) {
            this.epoch = epoch;
            list.add(new long[] {0, end});
            List<long[]> hits = samples.isEmpty() ? List.of() : hits();
            for (int i = 0; i < cuts.size(); i++) {
                Edit edit = cuts.get(i);
                if (edit.epoch() > epoch) {
                    continue;                               // all of this epoch was given before
                }
                long place = edit.epoch() < epoch ? 0 : placeOf(edit.position());
                switch (edit) {
                    case Excise cut -> {
                        List<long[]> ranges = new ArrayList<>();
                        addRange(ranges, cut);
                        while (i + 1 < cuts.size() && cuts.get(i + 1) instanceof Excise next
                                && next.epoch() == cut.epoch() && next.position() == cut.position()) {
                            addRange(ranges, next);
                            i++;
                        }
                        cut(place, merged(ranges));
                    }
                    case ExciseSamples _ -> {
                        int number = i;
                        cut(place, hits.stream().filter(hit -> hit[2] == number).toList());
                    }
                    case Repeat repeat when repeat.epoch() == epoch -> {
                        int number = i;
                        long stop = end + repeat.end() - repeat.from();
                        insert(place, without(List.of(new long[] {end, stop}),
                                hits.stream().filter(hit -> hit[2] < number).toList()));
                        end = stop;
                    }
                    default -> { }
                }
            }
            if (until != null && until.endEpoch() == epoch) {
                list = before(placeOf(until.end()));
            }
        }

        private void addRange(List<long[]> ranges, Excise cut) {
            if (cut.ofEpoch() == epoch) {
                ranges.add(new long[] {cut.from(), cut.end()});
            }
        }

        private static List<long[]> merged(List<long[]> ranges) {
            ranges.sort((a, b) -> Long.compare(a[0], b[0]));
            List<long[]> merged = new ArrayList<>();
            for (long[] range : ranges) {
                if (!merged.isEmpty() && range[0] <= merged.getLast()[1]) {
                    merged.getLast()[1] = Math.max(merged.getLast()[1], range[1]);
                } else {
                    merged.add(range);
                }
            }
            return merged;
        }

        private long placeOf(long position) {
            if (end == size() && position < end) {              // nothing is given again: positions ascend
                long place = 0;
                for (long[] piece : list) {
                    place += Math.clamp(position - piece[0], 0, piece[1] - piece[0]);
                }
                return place;
            }
            EditedOrder soFar = new EditedOrder(new Given(epoch), list, end);
            return EditedSampler.this.placeOf(soFar, epoch, position);
        }

        /** Returns the positions of samples that are left out, ascending, each with its edit. */
        private List<long[]> hits() {
            List<long[]> hits = new ArrayList<>();
            Order order = orders.of(epoch);
            long inRanges = 0;
            for (Map.Entry<Long, long[]> range : samples.entrySet()) {
                inRanges += range.getValue()[0] - range.getKey();
            }
            if (base instanceof Sampler.Arriving stream) {
                addHits(hits, Long.MAX_VALUE, sample -> stream.placeOf(sample) - epoch * size());
            } else if (hasInverse() && inRanges < size() / 4) {
                addHits(hits, size(), sample -> order instanceof Permutation shuffled
                        ? shuffled.positionOf(sample) : sample);
            } else {
                long[] some = new long[SCANNED_AT_ONCE];
                for (long from = 0; from < size(); from += SCANNED_AT_ONCE) {
                    int count = (int) Math.min(SCANNED_AT_ONCE, size() - from);
                    order.fill(from, 1, count, some);
                    for (int i = 0; i < count; i++) {
                        addHit(hits, from + i, some[i]);
                    }
                }
            }
            for (Again of : again(epoch)) {
                for (long position = of.first; position < of.end(); position++) {
                    addHit(hits, position, sample(epoch, position));
                }
            }
            return hits;
        }

        /** Adds the samples below a limit that are at a position of this epoch. */
        private void addHits(List<long[]> hits, long limit, LongUnaryOperator positionOf) {
            samples.forEach((from, range) -> {
                for (long sample = from; sample < Math.min(range[0], limit); sample++) {
                    long position = positionOf.applyAsLong(sample);
                    if (position >= 0 && position < size()) {
                        hits.add(new long[] {position, position + 1, range[1]});
                    }
                }
            });
            hits.sort((a, b) -> Long.compare(a[0], b[0]));
        }

        private void addHit(List<long[]> hits, long position, long sample) {
            int edit = excludedBy(sample);
            if (edit >= 0) {
                hits.add(new long[] {position, position + 1, edit});
            }
        }

        private List<long[]> before(long place) {
            List<long[]> kept = new ArrayList<>();
            long left = place;
            for (long[] piece : list) {
                long length = Math.min(left, piece[1] - piece[0]);
                if (length > 0) {
                    kept.add(new long[] {piece[0], piece[0] + length});
                }
                left -= length;
            }
            return kept;
        }

        private List<long[]> after(long place) {
            List<long[]> kept = new ArrayList<>();
            long skipped = place;
            for (long[] piece : list) {
                long length = Math.min(skipped, piece[1] - piece[0]);
                if (length < piece[1] - piece[0]) {
                    kept.add(new long[] {piece[0] + length, piece[1]});
                }
                skipped -= length;
            }
            return kept;
        }

        private void insert(long place, List<long[]> pieces) {
            List<long[]> changed = before(place);
            changed.addAll(pieces);
            changed.addAll(after(place));
            list = changed;
        }

        /** Takes ascending ranges of positions out of all that comes from a place on. */
        private void cut(long place, List<long[]> ranges) {
            if (ranges.isEmpty()) {
                return;
            }
            List<long[]> changed = before(place);
            changed.addAll(without(after(place), ranges));
            list = changed;
        }

        private static List<long[]> without(List<long[]> pieces, List<long[]> ranges) {
            List<long[]> changed = new ArrayList<>();
            long[] ends = ranges.stream().mapToLong(range -> range[1]).toArray();
            for (long[] piece : pieces) {
                long from = piece[0];
                int first = Arrays.binarySearch(ends, from);
                for (int r = first < 0 ? ~first : first + 1; r < ends.length && ranges.get(r)[0] < piece[1]; r++) {
                    if (ranges.get(r)[0] > from) {
                        changed.add(new long[] {from, ranges.get(r)[0]});
                    }
                    from = Math.max(from, ends[r]);
                }
                if (from < piece[1]) {
                    changed.add(new long[] {from, piece[1]});
                }
            }
            return changed;
        }
    }
}
