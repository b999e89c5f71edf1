// SPDX-License-Identifier: Apache-2.0
package io.penstock.format;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** Opens stores on files. */
public final class Mapping {

    @FunctionalInterface
    public interface Reader<S> {

        S read(MappedFile file) throws IOException;
    }

    /** Opens a file and creates a store from it; closes the file if that fails. */
    public static <S> S open(Location location, Reader<S> reader) throws IOException {
        return open(location, null, reader);
    }

    /** Opens a file together with its index, if it has one; checks for changes then cover both files. */
    public static <S> S open(Location location, @Nullable MappedFile index, Reader<S> reader) throws IOException {
        MappedFile file = location.openWith(index);
        try {
            return file.reading(() -> reader.read(file));
        } catch (UncheckedIOException e) {
            file.close();
            throw e.getCause();
        } catch (Throwable t) {
            file.close();
            throw t;
        }
    }
}
