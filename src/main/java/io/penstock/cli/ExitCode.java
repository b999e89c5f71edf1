package io.penstock.cli;

/** What the command's exit status says. */
final class ExitCode {

    static final int SUCCESS = 0;
    /** Neither the usage nor the input is at fault, as far as it is known. */
    static final int FAILURE = 1;
    static final int WRONG_USAGE = 2;
    static final int BAD_INPUT = 3;
    /** A comparison found what it was told to fail on. */
    static final int REGRESSION = 4;
    static final int MIXED = 5;
    static final int INCONCLUSIVE = 6;
    /** As a shell reports a process that was ended by SIGINT: 128 + 2. */
    static final int INTERRUPTED = 130;

    private ExitCode() {
    }
}
