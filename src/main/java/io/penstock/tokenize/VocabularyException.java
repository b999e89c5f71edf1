// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import java.io.IOException;

/** A vocabulary file is invalid or not supported; the message names the file and the reason. */
public final class VocabularyException extends IOException {

    private static final long serialVersionUID = 1L;

    VocabularyException(String file, String problem) {
        super(file + ": " + problem);
    }
}
