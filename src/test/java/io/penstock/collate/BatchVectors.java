// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static io.penstock.json.Json.members;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.DocumentWindows;
import io.penstock.dataset.Documents;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.reading.SampleReader;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.memory.DType;
import io.penstock.memory.Slab;
import io.penstock.memory.SlabLayout;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.TokenStore;
import io.penstock.testing.Fields;
import io.penstock.testing.MemoryTokenStore;
import io.penstock.testing.NoTokens;
import io.penstock.testing.Plans;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Makes the port specification's vectors of samples, batches and slabs. */
public final class BatchVectors {

    private BatchVectors() {
    }

    /** The vectors of {@code windows.md}. */
    public static Map<String, Object> windows() {
        var random = new SplittableRandom(4);
        return members("windows", acrossDocuments(random), "document_windows", withinDocuments(random),
                "documents", documents(random), "batches", batches(random));
    }

    private static List<Object> acrossDocuments(SplittableRandom random) {
        List<Object> cases = new ArrayList<>();
        for (int i = 0; i < 80; i++) {
            long length = random.nextLong(1, 8);
            long tokens = switch (i % 4) {
                case 0 -> length + random.nextInt(-1, 3);
                case 1 -> random.nextLong(1L << 62);
                default -> random.nextLong(60);
            };
            if (i % 8 == 1) {
                length = random.nextLong(1, 1L << 40);
            }
            cases.add(windows(tokens, length, i % 3 == 0 ? length : random.nextLong(1, 2 * length + 1),
                    random.nextBoolean(), random));
        }
        return cases;
    }

    private static Map<String, Object> windows(long tokens, long length, long stride, boolean labels,
            SplittableRandom random) {
        var windows = labels ? TokenWindows.of(new NoTokens(0, tokens), length, stride)
                : TokenWindows.withoutLabels(new NoTokens(0, tokens), length, stride);
        long size = windows.size();
        long[] samples = size <= 20 ? LongStream.range(0, size).toArray()
                : new long[] {0, 1, random.nextLong(size), size - 2, size - 1};
        return members("tokens", tokens, "length", length, "stride", stride, "labels", labels,
                "window_tokens", windows.maxLength(0), "samples", size,
                "sample_first",
                Arrays.stream(samples).mapToObj(i -> List.of(i, locate(windows, i).getFirst())).toList());
    }

    /** Where a sample of {@link NoTokens} is: the position of its first token, and how many it has. */
    private static List<Long> locate(Dataset dataset, long sample) {
        Span span = new Span();
        Fields.locate(dataset, sample, 0, span);
        return List.of(span.byteOffset(), span.byteSize());
    }

    private static long[] randomStarts(SplittableRandom random, int documents, int bound) {
        long[] starts = new long[documents + 1];
        for (int d = 0; d < documents; d++) {
            starts[d + 1] = starts[d] + (random.nextInt(4) == 0 ? 0 : random.nextInt(bound));
        }
        return starts;
    }

    private static List<Object> withinDocuments(SplittableRandom random) {
        List<Object> cases = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            long[] starts = randomStarts(random, i == 0 ? 400 : random.nextInt(12), 12);
            long length = random.nextLong(1, 7);
            long stride = random.nextLong(1, 8);
            boolean labels = random.nextBoolean();
            var windows = labels ? DocumentWindows.of(new NoTokens(starts), length, stride)
                    : DocumentWindows.withoutLabels(new NoTokens(starts), length, stride);
            cases.add(members("starts", list(starts), "length", length, "stride", stride, "labels", labels,
                    "window_tokens", windows.maxLength(0), "firsts", LongStream.range(0, windows.size())
                            .mapToObj(sample -> locate(windows, sample).getFirst()).toList()));
        }
        return cases;
    }

    private static List<Object> documents(SplittableRandom random) {
        List<Object> cases = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            long[] starts = randomStarts(random, random.nextInt(12), 12);
            long maxTokens = i % 4 == 0 ? Long.MAX_VALUE : random.nextLong(1, 14);
            var documents = Documents.of(new NoTokens(starts), maxTokens);
            cases.add(members("starts", list(starts), "max_tokens", maxTokens, "ranges",
                    LongStream.range(0, documents.size()).mapToObj(sample -> locate(documents, sample)).toList(),
                    "longest", documents.maxLength(0)));
        }
        return cases;
    }

    private static List<Object> batches(SplittableRandom random) {
        List<Object> cases = new ArrayList<>();
        for (DType dtype : DType.values()) {
            if (dtype.isInteger()) {
                for (TokenWidth width : TokenWidth.values()) {
                    if (width == TokenWidth.STORE || dtype.byteSize() <= (width == TokenWidth.I32 ? 4 : 8)) {
                        long[] starts = randomStarts(random, 6, 9);
                        starts = Arrays.copyOf(starts, 8);
                        starts[7] = (starts[6] = starts[5] + 3) + 9;
                        try (var store = new MemoryTokenStore(dtype, starts)) {
                            addBatches(cases, store, starts, width, random);
                        }
                    }
                }
            }
        }
        return cases;
    }

    private static void addBatches(List<Object> cases, TokenStore store, long[] starts, TokenWidth width,
            SplittableRandom random) {
        long length = random.nextLong(1, 5);
        var across = members("kind", "windows", "length", length, "stride", 2, "labels", true);
        var within = members("kind", "document_windows", "length", length, "stride", 1, "labels", true);
        var plain = members("kind", "windows", "length", length, "stride", length, "labels", false);
        var causal = members("kind", "causal_lm", "width", width.toString());
        add(cases, store, starts, across, TokenWindows.of(store, length, 2), causal,
                width.windows(), random);
        add(cases, store, starts, within, DocumentWindows.of(store, length, 1), causal,
                width.windows(), random);
        add(cases, store, starts, plain, TokenWindows.withoutLabels(store, length, length), members("kind", "stack"),
                Stack.fields(), random);
        long maxTokens = random.nextBoolean() ? Long.MAX_VALUE : random.nextLong(1, 9);
        var documents = members("kind", "documents", "max_tokens", maxTokens);
        boolean unsigned = width.dtype(store.dtype()).isUnsigned();
        for (Pad pad : List.of(width.padded(unsigned ? 200 : -100),
                width.padded(1).toMultipleOf(random.nextInt(2, 9)).cutTo(random.nextLong(1, 9)))) {
            add(cases, store, starts, documents, Documents.of(store, maxTokens), members("kind", "pad",
                    "width", width.toString(), "pad_value", pad.padValue, "multiple_of", pad.multipleOf,
                    "max_length", pad.maxLength), pad, random);
        }
    }

    private static void add(List<Object> cases, TokenStore store, long[] starts, Map<String, Object> description,
            Dataset dataset, Map<String, Object> collation, Collator collator, SplittableRandom random) {
        long[] samples = random.longs(random.nextInt(1, 5), 0, dataset.size()).toArray();
        SlabLayout layout = collator.layout(dataset, samples.length);
        try (var in = new SampleReader(dataset, ReadMode.MMAP); Arena arena = Arena.ofConfined()) {
            Slab slab = new Slab(layout, arena.allocate(layout.capacityBytes()));
            collator.collate(in, Plans.of(samples), slab);
            Span all = new Span();
            store.locate(0, store.tokenCount(), all);
            cases.add(members("dtype", store.dtype().toString(), "tokens", hex(all.slice()), "starts", list(starts),
                    "dataset", description, "collator", collation, "samples", list(samples),
                    "fields", IntStream.range(0, layout.fields().size()).mapToObj(f -> members(
                            "name", layout.fields().get(f).name(), "dtype", slab.tensor(f).dtype().toString(),
                            "shape", list(slab.tensor(f).shape()), "bytes", hex(slab.tensor(f).segment()))).toList()));
        }
    }

    /** The vectors of {@code slab.md}. */
    public static Map<String, Object> slab() {
        var random = new SplittableRandom(5);
        List<Object> elements = new ArrayList<>();
        for (DType dtype : DType.values()) {
            elements.add(elements(dtype, random));
        }
        List<Object> layouts = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            layouts.add(layout(random, i % 6 == 0 ? 1 << 20 : 40));
        }
        return members("elements", elements, "layouts", layouts);
    }

    private static Map<String, Object> elements(DType dtype, SplittableRandom random) {
        int bits = 8 * dtype.byteSize();
        long[] codes = switch (dtype) {
            case BOOL -> new long[] {0, 1};
            case F8E4M3, F8E5M2 -> LongStream.range(0, 256).toArray();
            default -> LongStream.concat(LongStream.of(0, 1, -1, 1L << bits - 1, (1L << bits - 1) - 1, 0x7F800000L,
                    0xFF80, 0x7F80, 0x7C00, 0x7FF0000000000000L, 0xFF800000L, 0x7FC00000L, 0x3C00),
                    random.longs(24)).toArray();
        };
        List<Object> pairs = new ArrayList<>();
        MemorySegment element = MemorySegment.ofArray(new byte[dtype.byteSize()]);
        for (long code : codes) {
            for (int b = 0; b < dtype.byteSize(); b++) {
                element.set(ValueLayout.JAVA_BYTE, b, (byte) (code >> 8 * b));
            }
            pairs.add(List.of(hex(element), value(Tensor.of(element, dtype))));
        }
        return members("dtype", dtype.toString(), "bytes_value", pairs);
    }

    private static Object value(Tensor scalar) {
        if (scalar.dtype() == DType.U64) {
            return new BigInteger(Long.toUnsignedString(scalar.getLong(0)));
        }
        if (!scalar.dtype().isFloat()) {
            return scalar.getLong(0);
        }
        double value = scalar.getDouble(0);
        return Double.isFinite(value) ? (Object) (value + 0.0) : Double.toString(value);
    }

    private static Map<String, Object> layout(SplittableRandom random, long bound) {
        List<TensorSpec> specs = new ArrayList<>();
        for (int f = random.nextInt(1, 6); f > 0; f--) {
            specs.add(new TensorSpec("field" + specs.size(), DType.values()[random.nextInt(DType.values().length)],
                    random.longs(random.nextInt(4), 0, bound).toArray()));
        }
        SlabLayout layout = new SlabLayout(specs);
        Slab slab = Slab.onDevice(layout, 0);
        Map<String, Object> description = members("fields", specs.stream().map(spec -> members("name", spec.name(),
                "dtype", spec.dtype().toString(), "shape", list(spec.shape()))).toList());
        description.putAll(places(slab));
        description.put("capacity", layout.capacityBytes());
        List<Object> batches = new ArrayList<>();
        for (int batch = 0; batch < 3; batch++) {
            for (int f = 0; f < specs.size(); f++) {
                for (int d = 0; d < specs.get(f).rank(); d++) {
                    slab.setDim(f, d, random.nextLong(specs.get(f).dim(d) + 1));
                }
            }
            slab.layOut();
            Map<String, Object> own = members("shapes",
                    IntStream.range(0, specs.size()).mapToObj(f -> list(slab.shape(f))).toList());
            own.putAll(places(slab));
            own.put("used", slab.usedBytes());
            batches.add(own);
        }
        description.put("batches", batches);
        return description;
    }

    private static Map<String, Object> places(Slab slab) {
        int fields = slab.layout().fields().size();
        return members("offsets", IntStream.range(0, fields).mapToObj(slab::offset).toList(),
                "bytes", IntStream.range(0, fields).mapToObj(slab::byteSize).toList());
    }

    private static List<Long> list(long[] values) {
        return Arrays.stream(values).boxed().toList();
    }

    private static String hex(MemorySegment bytes) {
        return HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE));
    }
}
