package io.penstock.decode;

import io.penstock.store.Column;
import java.util.Locale;
import java.util.Set;

/**
 * Which decoder a column gets by its encoding, in the way of the webdataset library's basic handlers: by the part of
 * the suffix behind its last dot, so that {@code seg.png} is an image and {@code 0.txt} a text, in lower case.
 *
 * <table>
 * <caption>Decoders by encoding</caption>
 * <tr><th>encoding</th><th>becomes</th></tr>
 * <tr><td>{@code cls cls2 class count index inx id}</td><td>{@code i64[]}: {@link DecimalText}</td></tr>
 * <tr><td>{@code pyd pickle pkl pth pt}</td><td>refused: a pickle runs code</td></tr>
 * <tr><td>all others</td><td>{@code u8[*]}, the bytes as stored: {@link StoredBytes}</td></tr>
 * </table>
 *
 * <p>What an image, an array or a JSON text becomes, one has to say: by an {@link ImageDecoder}, a {@link NpyDecoder},
 * a {@link JsonNumber}.
 */
public final class Decoders {

    private static final Set<String> DECIMAL = Set.of("cls", "cls2", "class", "count", "index", "inx", "id");
    private static final Set<String> PICKLED = Set.of("pyd", "pickle", "pkl", "pth", "pt");

    private Decoders() {
    }

    /**
     * The decoder for a column of bytes or text.
     *
     * @param column what is stored
     * @return its decoder
     * @throws IllegalArgumentException if the column holds numbers, which need none, or pickles, which are not read
     */
    public static Decoder of(Column column) {
        if (column.kind() == Column.Kind.NUMBERS) {
            throw new IllegalArgumentException(column + ": numbers need no decoder");
        }
        String encoding = encoding(column);
        refusePickles(column);
        return DECIMAL.contains(encoding) ? DecimalText.I64 : StoredBytes.INSTANCE;
    }

    /** What a column's encoding ends in, behind the last dot, in lower case. */
    static String encoding(Column column) {
        String encoding = column.encoding();
        return encoding.substring(encoding.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    }

    /** A pickle is a program; so is what torch saves, which is a pickle in a zip. */
    static void refusePickles(Column column) {
        if (PICKLED.contains(encoding(column))) {
            throw new IllegalArgumentException(column + ": a pickle, which is never unpickled, for it could run any "
                    + "code (its bytes can be had as they are, by StoredBytes)");
        }
    }

    static void requireBytes(Column column, String what) {
        if (column.kind() == Column.Kind.NUMBERS) {
            throw new IllegalArgumentException(column + ": numbers, expected " + what);
        }
        refusePickles(column);
    }
}
