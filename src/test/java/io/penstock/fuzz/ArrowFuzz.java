package io.penstock.fuzz;

import io.penstock.store.StoreFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Arrow's files and streams: FlatBuffers, offsets, bitmaps, dictionaries, compressed buffers. */
final class ArrowFuzz {

    static final FuzzTarget TARGET = withPeers(StoreFuzz.of("arrow", StoreFormat.ARROW, "x.arrow"));

    private ArrowFuzz() {
    }

    /** The files of all types that are small enough for mutations to matter. */
    private static StoreFuzz withPeers(StoreFuzz target) {
        try (Stream<Path> files = Files.list(Path.of(ArrowFuzz.class.getResource("/arrow/truth.json").toURI())
                .getParent())) {
            StoreFuzz all = target;
            List<Path> seeds = files.filter(file -> file.toString().endsWith(".arrow")).sorted().toList();
            for (Path seed : seeds) {
                all = all.seededBy(Files.readAllBytes(seed));
            }
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
