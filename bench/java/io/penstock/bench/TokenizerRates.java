// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import io.penstock.json.Json;
import io.penstock.tokenize.SpecialText;
import io.penstock.tokenize.TokenBuffer;
import io.penstock.tokenize.Tokenizer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Encodes a corpus on one thread with this project's tokenizer, jtokkit, tiktoken and Hugging Face's tokenizers by
 * turns, in CPU time of the thread: {@code --corpus F.jsonl [--encodings gpt2,cl100k_base] [--rounds 5] [--python P]}.
 * Documents are in memory: UTF-8 for this project's, strings for the others. Without {@code --python} only jtokkit is
 * compared. Ids are compared.
 */
public final class TokenizerRates {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static final int SHOWN = 10;

    private TokenizerRates() {
    }

    /** See the class. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = LoaderThroughput.options(args);
        Path corpus = Path.of(options.get("corpus"));
        List<String> texts = new ArrayList<>();
        for (String line : Files.readAllLines(corpus)) {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            texts.add((String) Json.object(Json.parse(bytes)).get("text"));
        }
        int rounds = Integer.parseInt(options.getOrDefault("rounds", "5"));
        for (String encoding : options.getOrDefault("encodings", "gpt2,cl100k_base,o200k_base").split(",")) {
            compare(encoding, corpus, texts, rounds, options.get("python"));
        }
    }

    private static void compare(String encoding, Path corpus, List<String> texts, int rounds, String python)
            throws IOException {
        long begin = THREADS.getCurrentThreadCpuTime();
        Tokenizer tokenizer = Tokenizer.of(encoding);
        double load = (THREADS.getCurrentThreadCpuTime() - begin) / 1e9;
        Encoding other = Encodings.newLazyEncodingRegistry()
                .getEncoding(encoding.equals("gpt2") ? "r50k_base" : encoding).orElseThrow();
        List<MemorySegment> documents = texts.stream()
                .map(text -> MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8))).toList();
        long bytes = documents.stream().mapToLong(MemorySegment::byteSize).sum();
        long[] checksums = checksums(tokenizer, other, documents, texts);
        System.out.printf(Locale.ROOT, "%s: %.1f MB in %d documents, read vocabulary in %.2f CPU s%n", encoding,
                bytes / 1e6, texts.size(), load);
        List<Peer> peers = new ArrayList<>();
        try {
            if (python != null) {
                for (String library : List.of("tiktoken", "tokenizers")) {
                    peers.add(new Peer(python, library, encoding, corpus));
                    peers.getLast().compare(checksums, texts);
                }
            }
            TokenBuffer ids = new TokenBuffer();
            for (int round = 1; round <= rounds; round++) {
                long start = THREADS.getCurrentThreadCpuTime();
                long tokens = 0;
                for (MemorySegment document : documents) {
                    ids.clear();
                    tokenizer.encode(document, SpecialText.ORDINARY, ids);
                    tokens += ids.size();
                }
                long middle = THREADS.getCurrentThreadCpuTime();
                for (String text : texts) {
                    tokens -= other.encodeOrdinary(text).size();
                }
                long end = THREADS.getCurrentThreadCpuTime();
                StringBuilder others = new StringBuilder();
                for (Peer peer : peers) {
                    others.append(String.format(Locale.ROOT, ", %s %.1f", peer.library, bytes * 1e3 / peer.round()));
                }
                System.out.printf(Locale.ROOT, "  round %d: penstock %.1f, jtokkit %.1f%s MB a CPU second%s%n", round,
                        bytes * 1e3 / (middle - start), bytes * 1e3 / (end - middle), others,
                        tokens == 0 ? "" : ", counts DIFFER");
            }
        } finally {
            for (Peer peer : peers) {
                peer.close();
            }
        }
    }

    /** Compares the ids with jtokkit's, and returns a checksum of each document's. */
    private static long[] checksums(Tokenizer tokenizer, Encoding other, List<MemorySegment> documents,
            List<String> texts) {
        long[] checksums = new long[texts.size()];
        int different = 0;
        TokenBuffer ids = new TokenBuffer();
        for (int i = 0; i < checksums.length; i++) {
            ids.clear();
            tokenizer.encode(documents.get(i), SpecialText.ORDINARY, ids);
            int[] found = ids.toArray();
            if (!Arrays.equals(found, other.encodeOrdinary(texts.get(i)).toArray()) && different++ < SHOWN) {
                System.out.println("  jtokkit has other ids for document " + i);
            }
            checksums[i] = checksum(found);
        }
        System.out.println(tokenizer.name() + ": " + different + " of " + checksums.length
                + " documents have other ids in jtokkit");
        return checksums;
    }

    private static long checksum(int[] ids) {
        ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * ids.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(ids);
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }

    /** A library of Python, by {@code bench/peers/tokenizer_rates.py}. */
    private static final class Peer implements AutoCloseable {
        private final String library;
        private final Process process;
        private final BufferedReader in;
        private final PrintStream out;
        private final long[] checksums;

        Peer(String python, String library, String encoding, Path corpus) throws IOException {
            this.library = library;
            String jar = Path.of(Encodings.class.getProtectionDomain().getCodeSource().getLocation().getPath())
                    .toString();
            process = new ProcessBuilder(python, "bench/peers/tokenizer_rates.py", library, jar)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            in = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            out = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
            checksums = Stream.of(ask("load " + encoding + ' ' + corpus).split(" ")).mapToLong(Long::parseLong)
                    .toArray();
        }

        void compare(long[] ours, List<String> texts) {
            int[] different = IntStream.range(0, ours.length).filter(i -> ours[i] != checksums[i]).toArray();
            System.out.println("  " + different.length + " documents have other ids in " + library);
            IntStream.of(different).limit(SHOWN).forEach(i -> System.out.println("    " + Json.write(
                    texts.get(i).substring(0, Math.min(120, texts.get(i).length())))));
        }

        private String ask(String line) throws IOException {
            out.println(line);
            String answer = in.readLine();
            if (answer == null) {
                throw new IOException("tokenizer_rates.py ended");
            }
            return answer;
        }

        /** CPU nanoseconds of one pass. */
        long round() throws IOException {
            return Long.parseLong(ask("round"));
        }

        @Override
        public void close() throws IOException {
            out.close();
            in.close();
            process.destroy();
        }
    }
}
