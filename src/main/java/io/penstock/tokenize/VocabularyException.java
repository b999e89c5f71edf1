// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.IOException;

/** A vocabulary file is invalid or has something that is not supported: names the file, and what. */
public final class VocabularyException extends IOException {

    private static final long serialVersionUID = 1L;

    VocabularyException(String file, String problem) {
        super(file + ": " + problem);
    }
}
