// SPDX-License-Identifier: Apache-2.0
package io.penstock.decode;

import io.penstock.store.Column;
import java.util.Locale;
import java.util.Set;

/**
 * Chooses a column's decoder by its encoding, like the webdataset library's basic handlers: by the lower-case suffix
 * after the last dot, so {@code seg.png} is an image and {@code 0.txt} a text.
 *
 * <table>
 * <caption>Decoders by encoding</caption>
 * <tr><th>encoding</th><th>decodes to</th></tr>
 * <tr><td>{@code cls cls2 class count index inx id}</td><td>{@code i64[]}: {@link DecimalText}</td></tr>
 * <tr><td>{@code pyd pickle pkl pth pt}</td><td>rejected: a pickle runs code</td></tr>
 * <tr><td>all others</td><td>{@code u8[*]}, the stored bytes: {@link StoredBytes}</td></tr>
 * </table>
 *
 * <p>Arrays and JSON need an explicit decoder: {@link NpyDecoder} or {@link JsonNumber}; so do images.
 */
public final class Decoders {

    private static final Set<String> DECIMAL = Set.of("cls", "cls2", "class", "count", "index", "inx", "id");
    private static final Set<String> PICKLED = Set.of("pyd", "pickle", "pkl", "pth", "pt");

    private Decoders() {
    }

    /**
     * {@return the decoder for a column of bytes or text}
     *
     * @param column the stored column
     * @throws IllegalArgumentException if the column holds numbers, which need no decoder, or pickles, which are never
     *     loaded
     */
    public static Decoder of(Column column) {
        requireBytes(column, "bytes or text");
        return DECIMAL.contains(encoding(column)) ? DecimalText.I64 : StoredBytes.INSTANCE;
    }

    /**
     * Returns the lower-case suffix of a column's encoding after the last dot, {@code jpg} of {@code img.JPG}.
     *
     * @param column a column
     * @return the suffix; all of the encoding if it has no dot
     */
    public static String encoding(Column column) {
        String encoding = column.encoding();
        return encoding.substring(encoding.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }

    /** Rejects numbers; pickles, which are programs; and torch files, which are pickles in a zip. */
    static void requireBytes(Column column, String what) {
        if (column.kind() == Column.Kind.NUMBERS) {
            throw new IllegalArgumentException(column + ": numbers need no decoder, expected " + what);
        }
        if (PICKLED.contains(encoding(column))) {
            throw new IllegalArgumentException(column + ": pickles are never loaded, because they can run code "
                    + "(StoredBytes gives their bytes)");
        }
    }
}
