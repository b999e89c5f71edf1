// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.device.cuda.ChildJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What happens to those who read a batch after it was closed, under {@code -Dpenstock.leases=paranoid}. */
@Tag("slow")
class ParanoidLeasesTest {

    @TempDir
    private Path folder;

    private ChildJvm.Result run(String reader, LeaseMode leases, TransferMode transfer) throws Exception {
        return new ChildJvm().option("-Dpenstock.leases=paranoid").option("-XX:-CreateCoredumpOnCrash")
                .option("-XX:ErrorFile=" + folder.resolve("error.log"))
                .run(LateReaderProgram.class, reader, leases.name(), transfer.name());
    }

    @ParameterizedTest
    @CsvSource({"CONFINED, IN_PLACE", "SHARED, IN_PLACE", "REUSED, IN_PLACE", "CONFINED, COPY", "REUSED, COPY"})
    void inJavaALateReadThrowsInEveryLeaseModeAndNoAddressIsLentTwice(LeaseMode leases, TransferMode transfer)
            throws Exception {
        ChildJvm.Result result = run("java", leases, transfer);
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(result.output().contains("the end"), result::output);
    }

    @ParameterizedTest
    @CsvSource({"CONFINED, IN_PLACE", "REUSED, COPY"})
    void whatWasEnqueuedOnAStreamBeforeTheCloseReadsItsBatch(LeaseMode leases, TransferMode transfer)
            throws Exception {
        ChildJvm.Result result = run("streams", leases, transfer);
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(result.output().contains("the end"), result::output);
    }

    @ParameterizedTest
    @EnabledOnOs(OS.LINUX)
    @CsvSource({"CONFINED, IN_PLACE", "SHARED, IN_PLACE", "REUSED, IN_PLACE", "CONFINED, COPY", "REUSED, COPY"})
    void nativeCodeThatReadsAClosedBatchDies(LeaseMode leases, TransferMode transfer) throws Exception {
        ChildJvm.Result result = run("native", leases, transfer);
        assertTrue(result.output().contains("reading a closed batch"), result::output);
        assertFalse(result.output().contains("survived"), result::output);
        assertTrue(result.output().contains("SIGSEGV"), result::output);
        assertNotEquals(0, result.exitCode(), result::output);
    }
}
