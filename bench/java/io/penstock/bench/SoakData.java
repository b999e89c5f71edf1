// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.format.webdataset.WebDatasetWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Writes what {@link Soak} trains on, some 30 MB, always the same but for what FFmpeg's encoder makes: tokens, tars of
 * JPEG files, tars of bytes, a tar of videos, a store of conversations.
 */
final class SoakData {

    static final int RECORD_BYTES = 4000;

    private static final long TOKENS = 4 << 20;
    private static final int IMAGES = 64;
    private static final int SHARD_IMAGES = 16;
    private static final int RECORDS = 2400;
    private static final int SHARD_RECORDS = 600;
    private static final int VIDEOS = 12;
    private static final int CHATS = 4000;
    private static final List<String> WORDS = List.of("apple", "bridge", "castle", "door", "engine", "forest", "garden",
            "harbour");
    private static final String TEMPLATE = "{% for message in messages %}{{ message.role }}: "
            + "{% if message.role == 'assistant' %}"
            + "{% generation %}{{ message.content }}<|endoftext|>{% endgeneration %}"
            + "{% else %}{{ message.content }}{% endif %}{{ '\\n' }}{% endfor %}";

    private final Path folder;

    private SoakData(Path folder) {
        this.folder = folder;
    }

    /** Writes it into a folder, unless it is there. */
    static void write(Path folder) throws IOException, InterruptedException {
        Path done = folder.resolve("done");
        if (!Files.exists(done)) {
            SoakData data = new SoakData(Files.createDirectories(folder));
            TokenFile.write(folder.resolve("tokens.bin"), TOKENS);
            data.images();
            data.records();
            data.videos();
            data.chats();
            Files.createFile(done);
        }
    }

    private void images() throws IOException {
        Path files = folder.resolve("jpegs");
        JpegFiles.main(new String[] {files.toString(), Integer.toString(IMAGES)});
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("images-%06d.tar"), SHARD_IMAGES,
                Long.MAX_VALUE)) {
            for (int i = 0; i < IMAGES; i++) {
                byte[] jpeg = Files.readAllBytes(files.resolve(String.format(Locale.ROOT, "%04d.jpg", i)));
                writer.write(String.format(Locale.ROOT, "%06d", i), Map.of("jpg", MemorySegment.ofArray(jpeg)));
            }
            writer.commit();
        }
    }

    private void records() throws IOException {
        SplittableRandom random = new SplittableRandom(2);
        byte[] bytes = new byte[RECORD_BYTES];
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("records-%06d.tar"), SHARD_RECORDS,
                Long.MAX_VALUE)) {
            for (int i = 0; i < RECORDS; i++) {
                random.nextBytes(bytes);
                writer.write(String.format(Locale.ROOT, "%06d", i), Map.of("bin", MemorySegment.ofArray(bytes), "cls",
                        MemorySegment.ofArray(Integer.toString(i % 1000).getBytes(StandardCharsets.US_ASCII))));
            }
            writer.commit();
        }
    }

    /** Videos of H.264 with B-frames: what FFmpeg's program draws. */
    private void videos() throws IOException, InterruptedException {
        try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("videos-%06d.tar"), VIDEOS,
                Long.MAX_VALUE)) {
            for (int i = 0; i < VIDEOS; i++) {
                Path file = folder.resolve("video-" + i + ".mp4");
                run("ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                        "testsrc2=size=192x128:rate=25:duration=" + (3 + i % 4), "-threads", "1", "-pix_fmt", "yuv420p",
                        "-g", "25", file.toString());
                writer.write(String.format(Locale.ROOT, "%06d", i), Map.of("mp4",
                        MemorySegment.ofArray(Files.readAllBytes(file))));
            }
            writer.commit();
        }
    }

    private void chats() throws IOException, InterruptedException {
        SplittableRandom random = new SplittableRandom(3);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < CHATS; i++) {
            String[] words = random.ints(random.nextInt(2, 20), 0, WORDS.size()).mapToObj(WORDS::get)
                    .toArray(String[]::new);
            String asked = String.join(", ", words);
            Arrays.sort(words);
            lines.add("{\"messages\": [{\"role\": \"user\", \"content\": \"Sort " + asked
                    + ".\"}, {\"role\": \"assistant\", \"content\": \"" + String.join(", ", words) + ".\"}]}");
        }
        Path file = Files.write(folder.resolve("chats.jsonl"), lines);
        Path template = Files.writeString(folder.resolve("chats.jinja"), TEMPLATE);
        List<String> command = LoopbackServers.java("-Xmx512m", "io.penstock.cli.Penstock", "tokenize", "--chat",
                file.toString(), "--template", template.toString(), "--encoding", "gpt2", "--force", "-o",
                folder.resolve("chats").toString());
        run(command.toArray(String[]::new));
    }

    private static void run(String... command) throws IOException, InterruptedException {
        int status = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (status != 0) {
            throw new IOException(String.join(" ", command) + " ended with " + status);
        }
    }
}
