// SPDX-License-Identifier: Apache-2.0
package io.penstock.state;

import io.penstock.error.PenstockException;
import java.util.List;

/** A rejected state: it belongs to another dataset or another order of samples. */
public final class StateMismatchException extends PenstockException {

    private static final long serialVersionUID = 1L;

    private final transient List<String> differences;

    StateMismatchException(List<String> differences) {
        super("the state belongs to another run: " + String.join("; ", differences), null);
        this.differences = List.copyOf(differences);
    }

    /** {@return the differences between the state and this run, one line each; empty only after deserialization} */
    public List<String> differences() {
        return differences == null ? List.of() : differences;
    }

    @Override
    public boolean isBadInput() {
        return true;
    }
}
