// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.csv;

/** Finds the lines of JSON lines; those that are blank are left out. */
final class JsonLineRows extends RowReader {

    JsonLineRows() {
        super(0);
    }

    @Override
    int row(byte[] bytes, int at, int end, boolean isEnd) {
        int p = at;
        boolean isBlank = true;
        for (; bytes[p] != '\n'; p++) {
            isBlank &= bytes[p] == ' ' || bytes[p] == '\t' || bytes[p] == '\r';
        }
        isCounted = !isBlank;
        return p < end ? p + 1 : isEnd ? end : INCOMPLETE;
    }
}
