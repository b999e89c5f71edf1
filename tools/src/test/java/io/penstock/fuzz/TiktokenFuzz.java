// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.error.MalformedStoreException;
import io.penstock.tokenize.SpecialText;
import io.penstock.tokenize.TextSplit;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** Vocabularies in tiktoken's files; with those that are valid, the file itself is encoded and decoded. */
final class TiktokenFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new TiktokenFuzz();

    private static final String END = "<|endoftext|>";

    private TiktokenFuzz() {
    }

    @Override
    public int maxBytes() {
        return 8 << 10;
    }

    @Override
    public List<byte[]> seeds() {
        StringBuilder bytes = new StringBuilder();
        for (int value = 0; value < 256; value++) {
            bytes.append(Base64.getEncoder().encodeToString(new byte[] {(byte) value})).append(' ').append(value)
                    .append('\n');
        }
        String more = "PT0= 256\nIDE= 300\r\nPT0g 2097151\n\nIDEy 257";
        return List.of(bytes.toString().getBytes(StandardCharsets.US_ASCII),
                (bytes + more).getBytes(StandardCharsets.US_ASCII), more.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        Path file = Files.write(folder.resolve("x.tiktoken"), input);
        Tokenizer tokenizer;
        try {
            tokenizer = Tokenizer.of(file, TextSplit.O200K, Map.of(END, 1 << 22), END);
        } catch (IOException | MalformedStoreException e) {
            StoreOracle.requireOneLine(e.getMessage());
            if (!e.getMessage().startsWith(file + ": ")) {
                throw new AssertionError(e.getMessage());
            }
            return;
        }
        TokenBuffer ids = new TokenBuffer();
        tokenizer.encode(MemorySegment.ofArray(input), SpecialText.ALLOWED, ids);
        byte[] wellFormed = new String(input, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
        if (!Arrays.equals(wellFormed, tokenizer.decode(ids.toArray()))) {
            throw new AssertionError("decoded to other bytes");
        }
    }
}
