// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A corpus file is invalid: names the file, the position, what was found and what was expected. */
public final class CorpusException extends IOException {

    private static final long serialVersionUID = 1L;

    CorpusException(Path file, String problem) {
        super(file + ": " + problem);
    }

    CorpusException(Path file, @Nullable String problem, Throwable cause) {
        super(file + ": " + problem, cause);
    }

    static CorpusException atByte(Path file, long offset, String problem) {
        return new CorpusException(file, "at byte " + offset + ": " + problem);
    }

    static CorpusException atLine(Path file, long line, String problem) {
        return new CorpusException(file, "at line " + line + ": " + problem);
    }
}
