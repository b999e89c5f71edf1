// SPDX-License-Identifier: Apache-2.0
package io.penstock.pictures;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.source.FieldSource;
import io.penstock.decode.Decoder;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Pictures and the numbers of their classes as samples of two fields, {@code image} and {@code label}, whatever store
 * holds them and whatever its columns are named. For example a folder of images that has a folder per class:
 *
 * {@snippet :
 * try (Pictures photos = Pictures.open(Path.of("photos"));
 *         DataLoader loader = DataLoader.builder(photos.decoded(ImageDecoder.rgb(224, 224)))
 *                 .batchSize(64).shuffle(seed).open()) {
 *     System.out.println(photos.classes());                           // [cat, dog]: 0 is a cat
 *     for (Batch batch : loader.epoch()) {
 *         try (batch) {
 *             step(batch.tensor("image"), batch.tensor("label"));     // u8[64,224,224,3], i64[64]
 *         }
 *     }
 * }
 * }
 *
 * <ul>
 *   <li>{@code image}, {@code u8[*]}, has the file as it is stored, for an {@code Augment} or {@link #decoded}. It is
 *       the only column whose encoding is JPEG or PNG, or else the column {@code image}, {@code image.bytes},
 *       {@code img} or {@code img.bytes}.
 *   <li>{@code label} is the column {@code label}, {@code class} or {@code cls}: {@code i64[]} of a folder and of
 *       decimal digits, otherwise as the store has it. There is no such field if there is no such column.
 * </ul>
 *
 * <p>{@link RecordFields} chooses other columns. The samples may be read by any number of threads.
 */
public final class Pictures implements Dataset, AutoCloseable {

    /** The field of pictures. */
    public static final String IMAGE = "image";
    /** The field of the classes' numbers. */
    public static final String LABEL = "label";

    private static final List<String> IMAGE_COLUMNS = List.of(IMAGE, "image.bytes", "img", "img.bytes");
    private static final List<String> LABEL_COLUMNS = List.of(LABEL, "class", "cls");

    private final RecordStore store;
    private final Runnable close;
    private final Column image;
    private final @Nullable Column label;
    private final Dataset samples;

    private Pictures(RecordStore store, Runnable close) {
        this.store = store;
        this.close = close;
        this.image = image(store.columns());
        this.label = named(LABEL_COLUMNS, store.columns());
        this.samples = samples(null);
    }

    /**
     * Opens a folder of images, or another store of records that has a column of pictures.
     *
     * @param path the folder, or a file or a folder of the store
     * @return the samples; closing them closes the store
     * @throws IllegalArgumentException if the store has no column of pictures, or several
     * @throws IOException if the store is missing, damaged, or cannot be read
     */
    public static Pictures open(Path path) throws IOException {
        RecordStore store = RecordStore.open(path);
        try {
            return new Pictures(store, store::close);
        } catch (Throwable t) {
            store.close();
            throw t;
        }
    }

    /**
     * Takes the pictures of a store that is open.
     *
     * @param store the store, which must stay open; closing the samples does not close it
     * @return the samples
     * @throws IllegalArgumentException if the store has no column of pictures, or several
     */
    public static Pictures of(RecordStore store) {
        return new Pictures(store, () -> { });
    }

    /**
     * Decodes the pictures in the loader's workers.
     *
     * @param decoder brings them to one size
     * @return the samples with {@code u8[height, width, channels]} as {@code image}
     */
    public Dataset decoded(ImageDecoder decoder) {
        return samples(decoder);
    }

    /** {@return the classes' names, by their numbers; empty if the store has no names} */
    public List<String> classes() {
        return store.classes();
    }

    private Dataset samples(@Nullable Decoder decoder) {
        RecordFields pictures = RecordFields.of(store).and(image.name(), decoder);
        if (label == null) {
            return renamed(pictures, image.name(), IMAGE);
        }
        boolean isNumber = label.kind() == Column.Kind.NUMBERS;
        RecordFields both = pictures.and(label.name(), isNumber ? null : Decoder.of(label));
        return renamed(renamed(both, image.name(), IMAGE), label.name(), LABEL);
    }

    private static Dataset renamed(Dataset samples, String field, String name) {
        return field.equals(name) ? samples : samples.duplicate(field, name);
    }

    private static Column image(List<Column> columns) {
        List<Column> found = columns.stream().filter(ImageDecoder::isOfImages).toList();
        Column image = found.size() == 1 ? found.getFirst() : named(IMAGE_COLUMNS, columns);
        if (image == null || image.kind() != Column.Kind.BYTES) {
            throw new IllegalArgumentException("found " + found.size() + " columns of JPEG or PNG in " + columns
                    + ", expected one, or one of the names " + IMAGE_COLUMNS);
        }
        return image;
    }

    private static @Nullable Column named(List<String> names, List<Column> columns) {
        return names.stream().flatMap(name -> columns.stream().filter(column -> column.name().equals(name)))
                .findFirst().orElse(null);
    }

    @Override
    public long size() {
        return samples.size();
    }

    @Override
    public List<TensorSpec> fields() {
        return samples.fields();
    }

    @Override
    public FieldSource source(int field) {
        return samples.source(field);
    }

    @Override
    public String name(long sample) {
        return samples.name(sample);
    }

    @Override
    public String key(long sample) {
        return samples.key(sample);
    }

    @Override
    public long maxLength(int field) {
        return samples.maxLength(field);
    }

    @Override
    public String fingerprint() {
        return samples.fingerprint();
    }

    /** Closes the store if {@link #open} opened it, after the last read. */
    @Override
    public void close() {
        close.run();
    }

    @Override
    public String toString() {
        return samples.toString();
    }
}
