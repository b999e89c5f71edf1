// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.io.DecodeLimit;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.store.Fixtures;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/** The text fixtures, and what tiktoken makes of them. */
final class Corpora {

    static final Path ROOT = Path.of("src/test/resources/fixtures");

    private static final Map<String, Tokenizer> TOKENIZERS = new ConcurrentHashMap<>();

    private Corpora() {
    }

    /** The tokenizer of a published encoding. Reading a vocabulary takes longer than most tests. */
    static Tokenizer tokenizer(String encoding) {
        return TOKENIZERS.computeIfAbsent(encoding, Tokenizer::of);
    }

    static Path file(String id) {
        return Files.exists(ROOT.resolve(id)) ? ROOT.resolve(id) : Fixtures.path(id);
    }

    static List<Map<String, Object>> entries(String kind, String expect) throws IOException {
        Map<String, Object> manifest = Json.object(Json.parse(Files.readAllBytes(file("text-manifest.json"))));
        List<Map<String, Object>> entries = Json.array(manifest.get("entries")).stream().map(Json::object)
                .filter(entry -> kind.equals(entry.get("kind")) && expect.equals(entry.get("expect"))).toList();
        if (entries.isEmpty()) {
            throw new IllegalStateException("no entries of kind " + kind + " to " + expect);
        }
        return entries;
    }

    static String sha256U32(IntStream ids) {
        int[] tokens = ids.toArray();
        ByteBuffer bytes = ByteBuffer.allocate(4 * tokens.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(tokens);
        return sha256(bytes.array());
    }

    static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Gathers what a job puts out, as documents. */
    static final class Documents implements EncodedChunk.Output {
        final List<int[]> documents = new ArrayList<>();
        private List<int[]> open = new ArrayList<>();

        @Override
        public boolean write(EncodedChunk chunk) {
            int[] tokens = chunk.stored().asSlice(0, 4L * chunk.tokenCount()).toArray(LittleEndian.I32);
            int from = 0;
            for (int document = 0; document < chunk.documentCount(); document++) {
                open.add(Arrays.copyOfRange(tokens, from, chunk.documentEnd(document)));
                documents.add(open.stream().flatMapToInt(IntStream::of).toArray());
                open = new ArrayList<>();
                from = chunk.documentEnd(document);
            }
            open.add(Arrays.copyOfRange(tokens, from, tokens.length));
            return true;
        }

        IntStream tokens() {
            if (open.stream().anyMatch(run -> run.length > 0)) {
                throw new IllegalStateException("tokens after the last document");
            }
            return documents.stream().flatMapToInt(IntStream::of);
        }
    }

    /** Encodes files as a job does, with chunks of a given size. */
    static Documents encode(List<Path> inputs, String encoding, boolean appendEndOfText, int threads, int chunkBytes)
            throws IOException, InterruptedException {
        Documents documents = new Documents();
        BytePairTokenizer tokenizer = (BytePairTokenizer) tokenizer(encoding);
        int end = appendEndOfText ? tokenizer.endOfText() : -1;
        try (CorpusReader reader = new CorpusReader(CorpusListing.of(inputs, false).files(),
                DecodeLimit.DEFAULT, chunkBytes, 16 << 20, 16 << 20)) {
            new ParallelEncoder(reader, () -> new EncodedChunk(tokenizer, DType.I32, "text", end, null),
                    documents, threads,
                    _ -> { }).run();
        }
        return documents;
    }
}
