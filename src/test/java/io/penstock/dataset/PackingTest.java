// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Packing.Method;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.store.Fixtures;
import io.penstock.store.TokenStore;
import io.penstock.testing.Fields;
import io.penstock.testing.MemoryTokenStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PackingTest {

    private static final long SEED = 20261121;

    /** A piece: document, first token, tokens. */
    private record Piece(long document, long first, int length) {
    }

    /** What the class comments say, without any structure that finds a sequence faster than looking at all. */
    private static List<List<Piece>> slowly(long[] lengths, int capacity, Method method, long window) {
        List<List<Piece>> all = new ArrayList<>();
        for (int from = 0; from < lengths.length; from += (int) Math.min(window, lengths.length)) {
            List<Piece> pieces = new ArrayList<>();
            for (int d = from; d < Math.min(lengths.length, from + window); d++) {
                for (long first = 0; first < lengths[d]; first += capacity) {
                    pieces.add(new Piece(d, first, (int) Math.min(capacity, lengths[d] - first)));
                }
            }
            if (method == Method.BEST_FIT) {
                pieces.sort(Comparator.comparingInt(piece -> -piece.length));
            }
            List<List<Piece>> bins = new ArrayList<>();
            List<Integer> rooms = new ArrayList<>();
            List<Integer> changed = new ArrayList<>();
            for (int p = 0; p < pieces.size(); p++) {
                int best = -1;
                for (int b = 0; b < bins.size(); b++) {
                    if (rooms.get(b) >= pieces.get(p).length && (best < 0 || method == Method.BEST_FIT
                            && (rooms.get(b) < rooms.get(best) || rooms.get(b).equals(rooms.get(best))
                                    && changed.get(b) > changed.get(best)))) {
                        best = b;
                    }
                }
                if (best < 0) {
                    best = bins.size();
                    bins.add(new ArrayList<>());
                    rooms.add(capacity);
                    changed.add(p);
                }
                bins.get(best).add(pieces.get(p));
                rooms.set(best, rooms.get(best) - pieces.get(p).length);
                changed.set(best, p);
            }
            for (List<Piece> bin : bins) {
                bin.sort(Comparator.comparingLong(Piece::document).thenComparingLong(Piece::first));
            }
            all.addAll(bins);
        }
        return all;
    }

    private static List<List<Piece>> pieces(PackedSequences packed) {
        List<List<Piece>> all = new ArrayList<>();
        Span span = new Span();
        for (long s = 0; s < packed.size(); s++) {
            List<Piece> pieces = new ArrayList<>();
            for (int p = 0; p < packed.parts(s); p++) {
                Fields.locatePart(packed, s, 0, p, span);
                pieces.add(new Piece(packed.document(s, p), packed.firstToken(s, p), (int) span.byteSize() / 2));
            }
            all.add(pieces);
            assertEquals(pieces.stream().mapToInt(Piece::length).sum(), packed.length(s));
        }
        return all;
    }

    private static MemoryTokenStore store(long[] lengths) {
        long[] starts = new long[lengths.length + 1];
        for (int d = 0; d < lengths.length; d++) {
            starts[d + 1] = starts[d] + lengths[d];
        }
        return new MemoryTokenStore(DType.U16, starts);
    }

    private static long[] randomLengths(SplittableRandom random) {
        long[] lengths = new long[random.nextInt(1, 80)];
        for (int d = 0; d < lengths.length; d++) {
            lengths[d] = random.nextInt(6) == 0 ? 0 : 1 + (long) (Math.exp(6 * random.nextDouble()) - 1);
        }
        lengths[random.nextInt(lengths.length)] += 1;
        return lengths;
    }

    @Tag("slow")
    @Test
    void piecesAreWhereASlowPackerPutsThem() {
        var random = new SplittableRandom(SEED);
        for (int round = 0; round < 1500; round++) {
            long[] lengths = randomLengths(random);
            int capacity = random.nextBoolean() ? random.nextInt(1, 300) : random.nextInt(1, 12);
            Method method = Method.values()[round % 2];
            long window = random.nextBoolean() ? Long.MAX_VALUE : random.nextInt(1, 30);
            try (var store = store(lengths);
                    var packed = Packing.of(Documents.of(store), capacity).by(method).window(window).pack()) {
                assertEquals(slowly(lengths, capacity, method, window), pieces(packed),
                        "seed " + SEED + ", round " + round + ", capacity " + capacity + ", " + method + ", "
                                + Arrays.toString(lengths));
                assertEquals(Arrays.stream(lengths).sum(), packed.tokenCount());
            }
        }
    }

    @Test
    void noTokenIsLostOrDoubledAndNoDocumentThatFitsIsCut() {
        var random = new SplittableRandom(SEED + 1);
        for (int round = 0; round < 200; round++) {
            long[] lengths = randomLengths(random);
            int capacity = random.nextInt(1, 200);
            try (var store = store(lengths); var packed = Packing.of(Documents.of(store), capacity).pack()) {
                int[] given = new int[lengths.length];
                int[] pieces = new int[lengths.length];
                for (List<Piece> sequence : pieces(packed)) {
                    assertTrue(sequence.stream().mapToInt(Piece::length).sum() <= capacity);
                    for (Piece piece : sequence) {
                        given[(int) piece.document] += piece.length;
                        pieces[(int) piece.document]++;
                    }
                }
                for (int d = 0; d < lengths.length; d++) {
                    assertEquals(lengths[d], given[d]);
                    assertEquals(Math.ceilDiv(lengths[d], (long) capacity), pieces[d]);
                }
            }
        }
    }

    @Tag("slow")
    @Test
    void bestFitWastesLessThanOnePercentOnTheLengthsOfRealDocuments() throws IOException {
        long[] lengths = new long[100_000];
        var random = new SplittableRandom(SEED + 2);
        try (TokenStore documents = TokenStore.open(Fixtures.path("megatron/u16_docs.idx"))) {
            for (int d = 0; d < lengths.length; d++) {
                long any = random.nextLong(documents.documentCount());
                lengths[d] = documents.documentStart(any + 1) - documents.documentStart(any);
            }
        }
        try (var store = store(lengths); var best = Packing.of(Documents.of(store), 2048).pack();
                var first = Packing.of(Documents.of(store), 2048).by(Method.FIRST_FIT).pack();
                var windowed = Packing.of(Documents.of(store), 2048).window(10_000).pack()) {
            assertTrue(best.paddingShare() < 0.01, best.paddingShare() + "");
            assertTrue(windowed.paddingShare() < 0.01, windowed.paddingShare() + "");
            assertTrue(first.paddingShare() >= best.paddingShare());
        }
    }

    @Test
    void aSequenceIsReadAsItsPiecesOneBehindTheOther() {
        long[] lengths = {5, 0, 3, 9, 1};
        try (var store = store(lengths); var packed = Packing.of(Documents.of(store), 4).pack();
                var reader = new SampleReader(packed, ReadMode.AUTO); Arena arena = Arena.ofConfined()) {
            var target = arena.allocate(64);
            long tokens = 0;
            for (long s = 0; s < packed.size(); s++) {
                long bytes = reader.copy(s, 0, target, 2);
                assertEquals(packed.length(s) * 2L, bytes);
                assertEquals(bytes, reader.byteSize(s, 0));
                Span whole = reader.locate(s, 0);
                assertEquals(-1, whole.segment().asSlice(whole.byteOffset(), bytes).mismatch(target.asSlice(2, bytes)));
                long at = 2;
                Span piece = new Span();
                for (int p = 0; p < packed.parts(s); p++) {
                    Fields.locatePart(packed, s, 0, p, piece);
                    assertEquals(-1, piece.slice().mismatch(target.asSlice(at, piece.byteSize())));
                    at += piece.byteSize();
                }
                tokens += bytes / 2;
            }
            assertEquals(18, tokens);
        }
    }

    @Test
    void whatCannotBePackedIsRefused() {
        try (var empty = store(new long[] {0, 0}); var some = store(new long[] {3})) {
            assertThrows(IllegalArgumentException.class, () -> Packing.of(Documents.of(empty), 4).pack());
            assertThrows(IllegalArgumentException.class, () -> Packing.of(Documents.of(some), 0));
            assertThrows(IllegalArgumentException.class, () -> Packing.of(Documents.of(some), 4).window(0));
            assertThrows(IllegalArgumentException.class, () -> Packing.of(TokenWindows.of(some, 1), 4));
            var packed = Packing.of(Documents.of(some), 4).pack();
            assertNotEquals(packed.fingerprint(), Packing.of(Documents.of(some), 5).pack().fingerprint());
            assertThrows(IndexOutOfBoundsException.class, () -> packed.parts(1));
            assertThrows(IndexOutOfBoundsException.class, () -> Fields.locatePart(packed, 0, 0, 1, new Span()));
            packed.close();
            packed.close();
            assertThrows(IllegalStateException.class, () -> packed.parts(0));
            assertArrayEquals(new long[] {0}, new long[] {some.documentStart(0)});
        }
    }
}
