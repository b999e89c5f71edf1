package io.penstock.tokenize;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;

/** Byte-pair encoding like tiktoken's, by jtokkit: the only class that uses that library. */
final class BytePairTokenizer implements Tokenizer {

    private final PublishedEncoding published;
    private final Encoding encoding;

    BytePairTokenizer(PublishedEncoding published) {
        this.published = published;
        this.encoding = Encodings.newLazyEncodingRegistry().getEncoding(published.libraryName).orElseThrow();
    }

    @Override
    public String name() {
        return published.id;
    }

    @Override
    public int vocabularySize() {
        return published.vocabularySize;
    }

    @Override
    public int endOfText() {
        return published.endOfText;
    }

    @Override
    public int[] encode(String text) {
        return encoding.encodeOrdinary(text).toArray();
    }

    @Override
    public String toString() {
        return published.id;
    }
}
