// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.memory.DType;
import java.nio.file.Path;

/**
 * What a tokenizing job wrote.
 *
 * @param store the store's path without an ending
 * @param encoding the tokenizer's name
 * @param dtype the element type of the store
 * @param files files read, some perhaps in part
 * @param skippedLinks number of links in folders that were left out
 * @param documents documents written, including empty ones
 * @param filteredDocuments documents left out because they were too short or too long
 * @param leftOut lines that became no document: conversations that are too long, or of which nothing is trained on
 * @param tokens tokens written
 * @param textBytes UTF-8 bytes of the documents
 * @param nanos duration
 */
public record TokenizeSummary(
        Path store, String encoding, DType dtype, long files, long skippedLinks, long documents,
        long filteredDocuments, long leftOut, long tokens, long textBytes, long nanos) {

    /** {@return the job's throughput in tokens per second} */
    public double tokensPerSecond() {
        return nanos == 0 ? 0 : tokens * 1e9 / nanos;
    }

    /** {@return the job's throughput in bytes of text per second} */
    public double textBytesPerSecond() {
        return nanos == 0 ? 0 : textBytes * 1e9 / nanos;
    }
}
