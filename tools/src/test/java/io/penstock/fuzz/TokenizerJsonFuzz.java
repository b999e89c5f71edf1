// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.error.MalformedStoreException;
import io.penstock.tokenize.SpecialText;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Hugging Face's tokenizers; with those that are valid, the file itself is encoded and decoded. */
final class TokenizerJsonFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new TokenizerJsonFuzz();

    private TokenizerJsonFuzz() {
    }

    @Override
    public int maxBytes() {
        return 64 << 10;
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        List<byte[]> seeds = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of("tools/src/test/resources/io/penstock/tokenize"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".tokenizer.json")).sorted().toList()) {
                seeds.add(Files.readAllBytes(file));
            }
        }
        return seeds;
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        Path file = Files.write(folder.resolve("tokenizer.json"), input);
        Tokenizer tokenizer;
        try {
            tokenizer = Tokenizer.of(file);
        } catch (IOException | IllegalArgumentException | MalformedStoreException e) {
            StoreOracle.requireOneLine(e.getMessage());
            if (!e.getMessage().startsWith(file + ": ")) {
                throw new AssertionError(e.getMessage());
            }
            return;
        }
        TokenBuffer ids = new TokenBuffer();
        tokenizer.encode(MemorySegment.ofArray(input), SpecialText.ALLOWED, ids);
        tokenizer.decode(ids.toArray());
    }
}
