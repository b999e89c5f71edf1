// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.cli.SharedTraits.Trait;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.source.FieldSource;
import io.penstock.internal.PrefixSums;
import io.penstock.io.MappedFile;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What is known of a sample without reading it: its store, its file, its key and the folders in it, its documents, its
 * length, and where in the store it is.
 */
final class RowTraits {

    private static final int MOST_PARTS = 64;
    private static final int RANGES = 64;

    private final Dataset dataset;
    private final List<String> stores;
    private final PrefixSums starts;
    private final List<FieldSource.InParts> bytes;
    private final int lengthField;
    private final Span span = new Span();

    /**
     * The traits of a source's samples.
     *
     * @param names of its stores, as the user gave them
     */
    RowTraits(SampleSource source, List<String> names) {
        dataset = source.dataset();
        stores = names;
        List<Long> sizes = source.sizes().size() == names.size() ? source.sizes() : List.of(dataset.size());
        starts = PrefixSums.ofLengths(sizes.size(), sizes::get);
        List<TensorSpec> fields = dataset.fields();
        bytes = fields.stream().map(field -> dataset.source(fields.indexOf(field)).bytes()).toList();
        lengthField = fields.stream().filter(TensorSpec::isVariable).map(fields::indexOf).findFirst().orElse(-1);
    }

    Set<Trait> of(long sample) {
        Set<Trait> traits = new LinkedHashSet<>();
        int store = starts.runOf(sample);
        String in = "";
        if (starts.runs() > 1) {
            traits.add(new Trait("store", stores.get(store)));
            in = " of " + stores.get(store);
        }
        addFiles(sample, traits);
        long first = starts.start(store);
        addKeys(sample, sample - first, in, traits);
        long size = starts.start(store + 1) - first;
        if (size >= 2 * RANGES) {
            long range = (sample - first) * RANGES / size;
            traits.add(new Trait("range", "samples " + Math.ceilDiv(range * size, RANGES) + " to "
                    + (Math.ceilDiv((range + 1) * size, RANGES) - 1) + in));
        }
        if (lengthField >= 0) {
            addLength(sample, traits);
        }
        traits.add(new Trait("sample", sample - first + in));
        return traits;
    }

    private void addFiles(long sample, Set<Trait> traits) {
        for (FieldSource.InParts field : bytes) {
            int parts = Math.min(MOST_PARTS, field.count().applyAsInt(sample));
            for (int part = 0; part < parts; part++) {
                field.place().locate(sample, part, span);
                MappedFile file = span.file();
                if (file != null) {
                    traits.add(new Trait("file", file.location().toString()));
                }
            }
        }
    }

    private void addKeys(long sample, long inStore, String in, Set<Trait> traits) {
        if (dataset instanceof PackedSequences packed) {
            for (int piece = 0; piece < packed.parts(sample); piece++) {
                traits.add(new Trait("document", Long.toString(packed.document(sample, piece))));
            }
            return;
        }
        String key;
        try {
            key = dataset.key(sample);
        } catch (UnsupportedOperationException _) {
            return;
        }
        if (!key.equals(Long.toString(inStore))) {
            traits.add(new Trait("key", key + in));
        }
        for (int slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
            traits.add(new Trait("folder", key.substring(0, slash + 1) + in));
        }
    }

    /** Lengths between two powers of two are alike: of stored values in elements, else in stored bytes. */
    private void addLength(long sample, Set<Trait> traits) {
        FieldSource source = dataset.source(lengthField);
        FieldSource.InParts field = bytes.get(lengthField);
        long length = 0;
        for (int part = 0; part < field.count().applyAsInt(sample); part++) {
            field.place().locate(sample, part, span);
            length += span.byteSize();
        }
        boolean isStored = source instanceof FieldSource.Stored || source instanceof FieldSource.InParts;
        if (isStored) {
            length /= Math.max(1, dataset.fields().get(lengthField).rowBytes());
        }
        long from = Long.highestOneBit(length);
        traits.add(new Trait("length", (length == 0 ? "0" : from + " to " + (2 * from - 1))
                + (isStored ? "" : " stored bytes")));
    }
}
