package io.penstock.tokenize;

import io.penstock.memory.DType;

/**
 * What a tokenizing job wrote.
 *
 * @param encoding the tokenizer's name
 * @param dtype the element type of the store
 * @param files files read
 * @param skippedLinks links in the folders that were left out
 * @param documents documents written, the empty ones among them
 * @param tokens tokens written
 * @param textBytes UTF-8 bytes of the documents
 * @param nanos how long it took
 */
public record TokenizeSummary(
        String encoding, DType dtype, long files, long skippedLinks, long documents, long tokens, long textBytes,
        long nanos) {

    /**
     * The rate of the whole job.
     *
     * @return tokens a second
     */
    public double tokensPerSecond() {
        return nanos == 0 ? 0 : tokens * 1e9 / nanos;
    }

    /**
     * The rate of the whole job.
     *
     * @return bytes of text a second
     */
    public double textBytesPerSecond() {
        return nanos == 0 ? 0 : textBytes * 1e9 / nanos;
    }
}
