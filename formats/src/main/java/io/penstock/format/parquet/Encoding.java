// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.parquet;

/** Parquet's encodings, in the order of their codes. */
enum Encoding {
    PLAIN,
    GROUP_VAR_INT,
    PLAIN_DICTIONARY,
    RLE,
    BIT_PACKED,
    DELTA_BINARY_PACKED,
    DELTA_LENGTH_BYTE_ARRAY,
    DELTA_BYTE_ARRAY,
    RLE_DICTIONARY,
    BYTE_STREAM_SPLIT,
    UNKNOWN;

    static Encoding of(int code) {
        return code >= 0 && code < UNKNOWN.ordinal() ? values()[code] : UNKNOWN;
    }
}
