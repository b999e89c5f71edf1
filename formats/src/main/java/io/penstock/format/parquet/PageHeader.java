// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

import org.jspecify.annotations.Nullable;

/**
 * The header of a page.
 *
 * @param crc the CRC-32 of the compressed bytes; null if it is missing
 * @param values the number of levels or entries
 * @param definitionEncoding the encoding of the definition levels of a page of version 1
 * @param repetitionEncoding the encoding of the repetition levels of a page of version 1
 * @param definitionBytes the size of the definition levels of a page of version 2, which are not compressed; 0 for
 *     others
 * @param repetitionBytes the size of the repetition levels of a page of version 2, which are not compressed; 0 for
 *     others
 * @param isCompressed whether the values of a page of version 2 are compressed; true for others
 */
record PageHeader(Kind kind, int uncompressedBytes, int compressedBytes, @Nullable Integer crc, int values,
        Encoding encoding, Encoding definitionEncoding, Encoding repetitionEncoding, int definitionBytes,
        int repetitionBytes, boolean isCompressed) {

    /** The kinds of pages, in the order of their codes. */
    enum Kind { DATA, INDEX, DICTIONARY, DATA_V2 }

    /** The field with the struct of the first kind; the other kinds follow in order. */
    private static final int FIRST_BODY = 5;
    /** The number of ids of a kind's struct. */
    private static final int BODY_IDS = 8;

    static PageHeader read(ThriftReader in) {
        int kind = -1;
        int uncompressedBytes = -1;
        int compressedBytes = -1;
        Integer crc = null;
        int[] body = {};
        int bodyKind = -1;
        in.beginStruct();
        while (in.nextField()) {
            switch (in.fieldId()) {
                case 1 -> kind = in.i32();
                case 2 -> uncompressedBytes = in.i32();
                case 3 -> compressedBytes = in.i32();
                case 4 -> crc = in.i32();
                case 5, 6, 7, 8 -> {
                    bodyKind = in.fieldId() - FIRST_BODY;
                    body = in.integers(BODY_IDS);
                }
                default -> in.skip();
            }
        }
        if (kind < 0 || kind >= Kind.values().length || uncompressedBytes < 0 || compressedBytes < 0) {
            throw in.malformed("a page of kind " + kind + ", " + compressedBytes + " bytes, " + uncompressedBytes
                    + " uncompressed", "kind 0 to 3 and sizes");
        }
        Kind found = Kind.values()[kind];
        if (found != Kind.INDEX && (bodyKind != kind || body[1] < 0)) {
            throw in.malformed("a page of kind " + kind + " without its own header", "one");
        }
        Encoding none = Encoding.UNKNOWN;
        return switch (found) {
            case DATA -> new PageHeader(found, uncompressedBytes, compressedBytes, crc, body[1], Encoding.of(body[2]),
                    Encoding.of(body[3]), Encoding.of(body[4]), 0, 0, true);
            case INDEX -> new PageHeader(found, uncompressedBytes, compressedBytes, crc, 0, none, none, none, 0, 0,
                    true);
            case DICTIONARY -> new PageHeader(found, uncompressedBytes, compressedBytes, crc, body[1],
                    Encoding.of(body[2]), none, none, 0, 0, true);
            case DATA_V2 -> {
                // Old writers of lists give the number of values as that of rows: the levels tell the rows.
                if (body[5] < 0 || body[6] < 0
                        || (long) body[5] + body[6] > Math.min(compressedBytes, uncompressedBytes)) {
                    throw in.malformed("levels of " + body[6] + " and " + body[5] + " bytes in a page of "
                            + compressedBytes, "no more than the page");
                }
                yield new PageHeader(found, uncompressedBytes, compressedBytes, crc, body[1], Encoding.of(body[4]),
                        none, none, body[5], body[6], body[7] != 0);
            }
        };
    }
}
