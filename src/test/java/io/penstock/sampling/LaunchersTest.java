// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Environments as the launchers' documentation describes them. */
class LaunchersTest {

    /** Variables as a shell has them: {@code RANK=3 WORLD_SIZE=8}. */
    private static Map<String, String> environment(String variables) {
        Map<String, String> environment = new TreeMap<>(Map.of("PATH", "/bin", "PAGERANK", "3", "CI_NODE_INDEX", "1"));
        Arrays.stream(variables.split(" ")).map(variable -> variable.split("=", 2))
                .forEach(variable -> environment.put(variable[0], variable[1]));
        return environment;
    }

    private static Shard shard(String variables) {
        return Shard.fromEnvironment(environment(variables), TailPolicy.DROP);
    }

    @Test
    void aProcessThatNoLauncherStartedIsAlone() {
        assertEquals(new Shard(0, 1, TailPolicy.PAD), Shard.fromEnvironment(Map.of("HOME", "/"), TailPolicy.PAD));
        assertEquals(new Shard(0, 1, TailPolicy.DROP), shard("BAD_RANK=gold TASK=7"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            RANK=3 WORLD_SIZE=8 | 3 | 8
            RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 GROUP_RANK=1 NODE_RANK=1 | 3 | 8
            RANK=3 WORLD_SIZE=8 SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_ID=0 | 3 | 8
            RANK=0 WORLD_SIZE=1 TORCHELASTIC_RUN_ID=none SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 | 0 | 1
            RANK=3 WORLD_SIZE=4 TORCHELASTIC_RUN_ID=none SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 | 3 | 4
            OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=6 PMIX_RANK=5 OMPI_COMM_WORLD_LOCAL_RANK=1 | 5 | 6
            OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=6 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 | 5 | 6
            OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=6 SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_JOB_ID=7 | 5 | 6
            JSM_NAMESPACE_RANK=1 JSM_NAMESPACE_SIZE=4 JSM_NAMESPACE_LOCAL_RANK=0 PMIX_RANK=1 | 1 | 4
            MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=4 MV2_COMM_WORLD_LOCAL_RANK=1 | 1 | 4
            PMI_RANK=1 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4 | 1 | 4
            PALS_RANKID=1 PALS_LOCAL_RANKID=1 PMI_RANK=1 PMI_SIZE=4 | 1 | 4
            FLUX_TASK_RANK=1 FLUX_JOB_SIZE=4 FLUX_TASK_LOCAL_ID=1 PMI_RANK=1 PMI_SIZE=4 | 1 | 4
            HOROVOD_RANK=1 HOROVOD_SIZE=4 HOROVOD_LOCAL_RANK=1 | 1 | 4
            SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=8 SLURM_STEP_ID=0 SLURM_LOCALID=1 PMIX_RANK=1 | 1 | 2
            SLURM_PROCID=1 SLURM_NTASKS=4 SLURM_STEPID=0 SLURM_JOB_ID=7 PMIX_RANK=1 | 1 | 4
            SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_JOB_ID=7 | 0 | 1
            WORLD_SIZE=4 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4 | 1 | 4
            """)
    void aCompletePairIsTheRank(String variables, int rank, int worldSize) {
        assertEquals(new Shard(rank, worldSize, TailPolicy.DROP), shard(variables));
    }

    /** Each names all variables that it found. */
    @ParameterizedTest
    @ValueSource(strings = {
        "RANK=1", "WORLD_SIZE=2", "RANK=", "RANK=x", "LOCAL_RANK=1 LOCAL_WORLD_SIZE=2", "NODE_RANK=0", "GROUP_RANK=0",
        "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "PMI_RANK=1", "PMI_SIZE=2", "PMIX_RANK=1",
        "JSM_NAMESPACE_RANK=1", "JSM_NAMESPACE_SIZE=2", "PALS_RANKID=1 PALS_LOCAL_RANKID=1", "MPI_LOCALRANKID=1",
        "ALPS_APP_PE=3", "FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=2", "MV2_COMM_WORLD_RANK=1", "HOROVOD_SIZE=2",
        "JOB_COMPLETION_INDEX=1", "VC_TASK_INDEX=1", "TF_CONFIG={}", "NEW_LAUNCHER_RANK=1",
        "SLURM_PROCID=1 SLURM_NTASKS=2", "SLURM_PROCID=1", "SLURM_STEP_ID=0 SLURM_NTASKS=4",
        "SLURM_PROCID=0 SLURM_STEPID=0",
        // those that contradict each other
        "RANK=3 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2", "WORLD_SIZE=8 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2",
        "RANK=0 WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4",
        "RANK=0 WORLD_SIZE=4 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4",
        "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4",
        // no rank below a world size
        "RANK=8 WORLD_SIZE=8", "RANK=-1 WORLD_SIZE=8", "RANK=x WORLD_SIZE=8", "RANK= WORLD_SIZE="})
    void halfOfTheFactsIsAnErrorThatNamesThem(String variables) {
        String message = assertThrows(IllegalArgumentException.class, () -> shard(variables)).getMessage();
        for (String variable : variables.split(" ")) {
            assertTrue(message.contains(variable), message);
        }
        assertFalse(message.contains("PATH") || message.contains("PAGERANK"), message);
    }

    @Test
    void theScriptOfASlurmJobReadsAllSamplesWithAWarning() {
        List<String> logged = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                logged.add(entry.getMessage() + Arrays.toString(entry.getParameters()));
            }

            @Override
            public void flush() {
            }

            @Override
            public void close() {
            }
        };
        Logger logger = Logger.getLogger("io.penstock.sampling");
        logger.addHandler(handler);
        try {
            assertEquals(Shard.whole(), Shard.fromEnvironment(environment(
                    "SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_ID=7 SLURM_LOCALID=0"), TailPolicy.EXACT));
            assertEquals(1, logged.size());
            assertTrue(logged.getFirst().contains("SLURM_NTASKS"), logged.getFirst());
            assertEquals(Shard.whole(), Shard.fromEnvironment(environment(
                    "SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_JOB_ID=7"), TailPolicy.EXACT));
            assertEquals(1, logged.size());
        } finally {
            logger.removeHandler(handler);
        }
    }
}
