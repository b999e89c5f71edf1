// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.format.megatron.MegatronPart;
import java.io.IOException;

/** Writes the documents within the limits, in order, and counts them. For one thread at a time. */
final class DocumentWriter implements EncodedChunk.Output {

    private final MegatronPart part;
    private final DocumentLimits limits;
    /** The tokens added to each document: 1 if an end-of-text token is appended, otherwise 0. */
    private final int addedTokens;
    private long documents;
    private long filtered;
    private long leftOut;
    private long tokens;
    private long textBytes;
    /** The tokens written so far of a document whose end is still to come. */
    private long openTokens;
    private long openTextBytes;

    DocumentWriter(MegatronPart part, DocumentLimits limits, int addedTokens) {
        this.part = part;
        this.limits = limits;
        this.addedTokens = addedTokens;
    }

    @Override
    public boolean write(EncodedChunk chunk) throws IOException {
        leftOut += chunk.leftOut();
        int from = 0;
        long text = 0;
        for (int document = 0; document < chunk.documentCount(); document++) {
            int end = chunk.documentEnd(document);
            openTextBytes += chunk.textEnd(document) - text;
            text = chunk.textEnd(document);
            if (!endDocument(chunk, from, end - from)) {
                return false;
            }
            from = end;
        }
        int rest = chunk.tokenCount() - from;
        part.append(chunk.stored(), from, rest);
        openTokens += rest;
        openTextBytes += chunk.textBytes() - text;
        return true;
    }

    /** Writes the last tokens of a document, or drops it; returns false if it exceeds the job's tokens. */
    private boolean endDocument(EncodedChunk chunk, int from, int count) throws IOException {
        long length = openTokens + count;
        boolean isWanted = limits.accept(length - addedTokens);
        boolean isOver = isWanted && tokens + length > limits.totalTokens();
        if (isWanted && !isOver) {
            part.append(chunk.stored(), from, count);
            part.endDocument();
            documents++;
            tokens += length;
            textBytes += openTextBytes;
        } else {
            part.dropTokens();
            filtered += isOver ? 0 : 1;
        }
        openTokens = 0;
        openTextBytes = 0;
        return !isOver;
    }

    long documents() {
        return documents;
    }

    /** The documents that were too short or too long. */
    long filtered() {
        return filtered;
    }

    /** The lines that became no document. */
    long leftOut() {
        return leftOut;
    }

    long tokens() {
        return tokens;
    }

    /** The UTF-8 bytes of the documents that were written. */
    long textBytes() {
        return textBytes;
    }
}
