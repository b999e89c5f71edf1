package io.penstock.format.image;

import io.penstock.image.ImageFormat;
import io.penstock.image.ImageReader;
import io.penstock.io.Location;
import io.penstock.store.Candidate;
import io.penstock.store.OpenOptions;
import io.penstock.store.Store;
import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Locale;

/** One image, JPEG or PNG. */
public final class ImageProvider implements StoreProvider {

    @Override
    public String name() {
        return ImageFile.FORMAT;
    }

    @Override
    public int order() {
        return 1200;
    }

    @Override
    public boolean matchesContent(Candidate candidate) {
        return ImageFormat.of(MemorySegment.ofArray(candidate.head()), candidate.head().length) != null;
    }

    @Override
    public boolean matchesName(Candidate candidate) {
        return candidate.isFile()
                && candidate.name().toLowerCase(Locale.ROOT).matches("(?s).*\\.(jpg|jpeg|jpe|jfif|png)");
    }

    @Override
    public Store open(Location path, OpenOptions options) throws IOException {
        return ImageFile.open(path, ImageReader.DEFAULT_MAX_PIXELS);
    }
}
