// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TensorRows;
import io.penstock.io.Location;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import io.penstock.store.TensorStore;
import io.penstock.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Samples of a store without tokens: rows of tensors, or records. */
record RowSamples(SampleOptions options, Location path, String kind) {

    /** The field's name if a tensor store has no names. */
    static final String UNNAMED_FIELD = "array";
    /** The format of a lone image, whose rows are lines of pixels. */
    private static final String ONE_IMAGE = "images";

    /** The chosen tensors' rows. */
    SampleSource of(TensorStore store) throws IOException {
        options.checkNoWindows(path, store.tensors().stream().noneMatch(tensor -> tensor.dtype().isInteger()) ? ""
                : "; if its integers are tokens, make one with: penstock convert "
                        + ShellText.quoted(path) + " STORE --to megatron");
        if (kind.equals(ONE_IMAGE)) {
            throw new BadInputException(path + ": found one image, which is one sample, expected a store of images: a"
                    + " folder of them, a tar, or a table");
        }
        if (!options.decoders.isEmpty() || options.image != null || options.skipIncomplete) {
            throw new UsageException("--decode, --image and --skip-incomplete need a store of records; " + path
                    + " holds tensors");
        }
        List<String> names = options.names.isEmpty() ? rowsOfOneCount(store)
                : options.names.stream().map(store::nameOf).toList();
        String first = names.getFirst();
        int firstTensor = tensor(store, first);
        TensorRows dataset = UsageException.valid(() -> TensorRows.of(field(first), store, firstTensor));
        for (String name : names.subList(1, names.size())) {
            TensorRows before = dataset;
            int tensor = tensor(store, name);
            dataset = UsageException.valid(() -> before.and(field(name), store, tensor));
        }
        return options.source(path, kind, store, dataset, "row");
    }

    private int tensor(TensorStore store, String name) {
        List<String> names = store.tensors().stream().map(TensorSpec::name).toList();
        int tensor = names.indexOf(name);
        if (tensor < 0) {
            String why = store.unread().get(name);
            throw new UsageException("--fields: found '" + name + "', "
                    + (why == null ? "" : "which cannot be read: " + why + "; ") + path + " has " + names);
        }
        checkRows(store.tensors().get(tensor));
        return tensor;
    }

    private static String field(String tensor) {
        return tensor.isEmpty() ? UNNAMED_FIELD : tensor;
    }

    /** All tensors, if they have the same number of rows. */
    private List<String> rowsOfOneCount(TensorStore store) {
        List<TensorSpec> tensors = store.tensors();
        if (tensors.isEmpty()) {
            throw new BadInputException(path + ": found no tensor" + (store.unread().isEmpty() ? ""
                    : " that can be read, only " + store.unread()) + ", expected tensors of rows");
        }
        for (TensorSpec spec : tensors) {
            if (tensors.size() == 1) {
                checkRows(spec);
            } else if (spec.rank() == 0 || spec.byteSize() == 0 || tensors.getFirst().rank() == 0
                    || spec.dim(0) != tensors.getFirst().dim(0)) {
                throw new UsageException("--fields: missing, expected tensors with the same number of rows; " + path
                        + " has " + shortened(tensors) + " (choose some of them, for example --fields "
                        + tensors.getFirst().name() + ")");
            }
        }
        return tensors.stream().map(TensorSpec::name).toList();
    }

    private static String shortened(List<TensorSpec> tensors) {
        return tensors.size() <= 8 ? tensors.toString() : tensors.subList(0, 8) + " and " + (tensors.size() - 8)
                + " more";
    }

    private void checkRows(TensorSpec spec) {
        if (spec.rank() == 0 || spec.byteSize() == 0) {
            throw new BadInputException(path + ": found " + (spec.name().isEmpty() ? "a tensor " : "'" + spec.name()
                    + "': ") + spec.dtype() + Arrays.toString(spec.shape()).replace(" ", "")
                    + (spec.rank() == 0 ? ", which is one value" : spec.dim(0) == 0 ? ", which has no rows"
                            : ", whose rows have no bytes")
                    + ", expected rows of at least one byte");
        }
    }

    /** The chosen columns of records. */
    SampleSource of(RecordStore store) throws IOException {
        Integer pack = options.pack;
        if (pack == null) {
            options.checkNoWindows(path, StoreOptions.tokenizeHint(path));
        }
        if (pack != null && options.maxLength != null) {
            throw new UsageException("--max-length: found with --pack, which keeps whole documents, expected one of"
                    + " them");
        }
        if (store.size() == 0) {
            throw new BadInputException(path + ": found no records, expected one or more");
        }
        String image = options.image;
        if (image != null) {
            DecoderText.requireImages(store);
            UsageException.valid("--image: ", () -> DecoderText.fit(image));
        }
        RecordFields fields = RecordFields.of(store);
        List<String> unknown = new ArrayList<>(options.decoders.keySet());
        for (Column column : store.columns()) {
            unknown.remove(column.name());
            int index = store.columns().indexOf(column);
            if (!options.names.isEmpty() ? options.names.contains(column.name())
                    : isReadable(column) && store.isPresent(0, index)) {
                fields = and(fields, column);
            }
        }
        List<String> missing = options.names.stream()
                .filter(name -> store.columns().stream().noneMatch(column -> column.name().equals(name))).toList();
        for (String name : missing) {
            if (store.unreadColumns().containsKey(name)) {
                throw new UsageException("--fields: column '" + name + "' cannot be read: "
                        + store.unreadColumns().get(name));
            }
        }
        if (!missing.isEmpty() || !unknown.isEmpty()) {
            throw new UsageException((missing.isEmpty() ? "--decode: " + unknown : "--fields: " + missing)
                    + " not found, " + path + " has " + store.columns().stream().map(Column::name).toList());
        }
        if (fields.isEmpty()) {
            throw new UsageException("--fields: missing, expected some of " + store.columns().stream().map(Column::name)
                    .toList() + ", as the first record of " + path
                    + " has no column that can be read without --decode");
        }
        RecordFields chosen = options.skipIncomplete ? fields.complete() : fields;
        if (chosen.size() == 0) {
            throw new BadInputException(path + ": found no record that has all of " + chosen.fields());
        }
        return pack != null ? options.packed(path, kind, pack, store::close, options.part(chosen))
                : options.source(path, kind, store, chosen, "record");
    }

    /** Leaves out a pickle, instead of refusing it, if no option names it. */
    private boolean isReadable(Column column) {
        try {
            if (!options.decoders.containsKey(column.name())) {
                DecoderText.byEncoding(column, null);
            }
            return true;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    private RecordFields and(RecordFields fields, Column column) {
        return UsageException.valid(() -> {
            String given = options.decoders.get(column.name());
            return fields.and(column.name(), given != null ? DecoderText.parse(given)
                    : DecoderText.byEncoding(column, options.image));
        });
    }
}
