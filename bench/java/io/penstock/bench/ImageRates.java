// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.image.ImageDecoding;
import io.penstock.image.ImageFit;
import io.penstock.image.PixelFormat;
import io.penstock.image.reading.FrameDecoder;
import io.penstock.image.reading.ImageFitter;
import io.penstock.image.reading.ImageReader;
import io.penstock.image.reading.JpegLibrary;
import io.penstock.json.Json;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Images that one thread decodes to RGB, from memory to memory, in a second of its CPU time. Prints a JSON line a
 * round; {@code bench/peers/images.py} calls it beside its peers.
 *
 * <pre>
 *   --images FOLDER     JPEGs or PNGs, all of which are decoded in turn
 *   --library NAME      turbojpeg or jdk
 *   --work NAME         decode: whole images; crop: shorter side to 256, middle 224x224; exact-crop: the same without
 *                       scaled decoding
 *   --rounds N --seconds S --warmup S
 * </pre>
 */
public final class ImageRates {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final List<MemorySegment> images = new ArrayList<>();
    private final ImageReader reader;
    private final ImageFitter fitter;
    private final MemorySegment target;

    private ImageRates(Path folder, JpegLibrary library, String work, Arena arena) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.{jpg,png}")) {
            for (Path file : files) {
                images.add(arena.allocateFrom(ValueLayout.JAVA_BYTE, Files.readAllBytes(file)));
            }
        }
        ImageDecoding decoding = ImageDecoding.rgb();
        reader = new ImageReader(library, ImageDecoding.DEFAULT_MAX_PIXELS);
        fitter = work.equals("decode") ? null : new ImageFitter(ImageFit.shorterSide(256, 224, 224),
                new FrameDecoder(work.equals("exact-crop") ? decoding : decoding.scaled(), library));
        long most = 0;
        for (MemorySegment image : images) {
            reader.read(image, image.byteSize());
            most = Math.max(most, 3L * reader.read(image, image.byteSize()).width()
                    * reader.read(image, image.byteSize()).height());
        }
        target = arena.allocate(Math.max(most, 224 * 224 * 3));
    }

    /** Takes the options above. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = LoaderThroughput.options(args);
        JpegLibrary library = JpegLibrary.valueOf(options.getOrDefault("library",
                "turbojpeg").toUpperCase(Locale.ROOT));
        String work = options.getOrDefault("work", "decode");
        try (Arena arena = Arena.ofConfined()) {
            var rates = new ImageRates(Path.of(options.get("images")), library, work, arena);
            rates.round(Double.parseDouble(options.getOrDefault("warmup", "2")));
            for (int i = 0; i < Integer.parseInt(options.getOrDefault("rounds", "3")); i++) {
                var line = new LinkedHashMap<String, Object>();
                line.put("side", "penstock");
                line.put("config", "Penstock, " + library);
                line.put("work", work);
                line.put("round", i);
                line.put("images_per_cpu_second",
                        rates.round(Double.parseDouble(options.getOrDefault("seconds", "2"))));
                System.out.println(Json.write(line));
            }
            rates.reader.close();
            if (rates.fitter != null) {
                rates.fitter.close();
            }
        }
    }

    private double round(double seconds) throws IOException {
        long start = THREADS.getCurrentThreadCpuTime();
        long end = start + (long) (seconds * 1e9);
        long now;
        long count = 0;
        do {
            MemorySegment image = images.get((int) (count % images.size()));
            if (fitter == null) {
                reader.read(image, image.byteSize());
                reader.decode(PixelFormat.RGB, 1, target, 0);
            } else {
                fitter.read(image, image.byteSize(), target, 0);
            }
            count++;
            now = THREADS.getCurrentThreadCpuTime();
        } while (now < end);
        return Math.round(count * 1e10 / (now - start)) / 10.0;
    }
}
