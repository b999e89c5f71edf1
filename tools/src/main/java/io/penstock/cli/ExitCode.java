// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

final class ExitCode {

    static final int SUCCESS = 0;
    /** Any failure that is neither wrong usage nor bad input. */
    static final int FAILURE = 1;
    static final int WRONG_USAGE = 2;
    static final int BAD_INPUT = 3;
    /** A comparison ended with an outcome that {@code --fail-on} names; likewise the next two. */
    static final int REGRESSION = 4;
    static final int MIXED = 5;
    static final int INCONCLUSIVE = 6;
    /** As a shell reports a process that was ended by SIGINT: 128 + 2. */
    static final int INTERRUPTED = 130;
    /** As a shell reports a process that was ended by SIGPIPE: 128 + 13. */
    static final int PIPE_CLOSED = 141;
}
