// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds this process's rank in the environment that launchers set. Half of the facts is an error: a process that
 * guesses that it is alone reads what others read too.
 */
final class Launchers {

    private static final System.Logger LOG = System.getLogger("io.penstock.sampling");

    /** What Slurm sets in the tasks of a step, and not in the script of a job. */
    private static final List<String> SLURM_STEP = List.of("SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_NUM_TASKS");
    /**
     * The variables of rank and world size: of torchrun and most frameworks, which launchers of processes may have
     * started and which therefore come first; then of the launchers.
     */
    private static final String[][] RANK_AND_SIZE = {{"RANK", "WORLD_SIZE"}, {"HOROVOD_RANK", "HOROVOD_SIZE"},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
        {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}, {"SLURM_PROCID", "SLURM_NTASKS"}};
    /** Names that say that a process is one of several, such as LOCAL_RANK, PALS_RANKID and JOB_COMPLETION_INDEX. */
    private static final Pattern HINT = Pattern.compile("(.*_)?(LOCAL)?(N?RANKS?(_?ID)?|WORLD_?SIZE|LOCAL_SIZE|PROC_?ID"
            + "|TASK_INDEX|COMPLETION_INDEX|APP_PE)|HOROVOD_SIZE|JSM_NAMESPACE_SIZE|PMI_SIZE|OMPI_COMM_WORLD_SIZE"
            + "|MV2_COMM_WORLD_SIZE|FLUX_JOB_SIZE");
    private static final Pattern NUMBER = Pattern.compile("\\s*-?\\d*\\s*");

    private Launchers() {
    }

    /**
     * Finds the rank and the world size.
     *
     * @return the shard; rank 0 of 1 if nothing says that a launcher started this process
     * @throws IllegalArgumentException if a rank or a world size is missing, wrong, or contradicts another one
     */
    static Shard shard(Map<String, String> environment, TailPolicy tail) {
        List<Shard> found = new ArrayList<>();
        List<String[]> names = new ArrayList<>();
        boolean isStep = SLURM_STEP.stream().anyMatch(environment::containsKey);
        for (String[] pair : RANK_AND_SIZE) {
            String rank = environment.get(pair[0]);
            String size = environment.get(pair[1]);
            // The number of a job's tasks is that of a step that names none, and says nothing outside a step.
            boolean isOfJob = pair[1].equals("SLURM_NTASKS");
            if (rank != null && size != null
                    && !(isOfJob && (!isStep || environment.containsKey("SLURM_STEP_NUM_TASKS")))) {
                found.add(parsed(pair, rank, size, tail));
                names.add(pair);
            }
        }
        if (found.isEmpty()) {
            return alone(environment, isStep, tail);
        }
        Shard first = found.getFirst();
        requireSame(environment, "RANK", first.rank(), names.getFirst());
        requireSame(environment, "WORLD_SIZE", first.worldSize(), names.getFirst());
        // torchrun is started once a node, and numbers its processes itself.
        if (!environment.containsKey("TORCHELASTIC_RUN_ID")) {
            boolean isOfFrameworks = names.getFirst()[0].equals("RANK");
            for (int i = 1; i < found.size(); i++) {
                Shard outer = found.get(i);
                if (first.worldSize() < outer.worldSize() || isOfFrameworks && first.worldSize() == outer.worldSize()
                        && first.rank() != outer.rank()) {
                    throw new IllegalArgumentException("environment: found " + shown(environment, names.getFirst())
                            + ", but also " + shown(environment, names.get(i))
                            + ", expected the same rank of the same number: unset those that are wrong, or pass rank"
                            + " and world size");
                }
            }
        }
        return first;
    }

    private static Shard parsed(String[] pair, String rank, String size, TailPolicy tail) {
        try {
            return new Shard(Integer.parseInt(rank.strip()), Integer.parseInt(size.strip()), tail);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("environment: " + pair[0] + "=" + rank + " and " + pair[1] + "=" + size
                    + ", expected a rank below a world size", e);
        }
    }

    /** RANK or WORLD_SIZE alone must say what the launcher's variables say. */
    private static void requireSame(Map<String, String> environment, String name, int expected, String[] pair) {
        String value = environment.get(name);
        if (value != null && !value.strip().equals(Integer.toString(expected))) {
            throw new IllegalArgumentException("environment: found " + name + "=" + value + ", but also "
                    + shown(environment, pair) + ", expected " + name + "=" + expected + ": set RANK and WORLD_SIZE, or"
                    + " unset " + name);
        }
    }

    /** No pair is complete: then nothing may say that there are other processes. */
    private static Shard alone(Map<String, String> environment, boolean isStep, TailPolicy tail) {
        SortedMap<String, String> hints = new TreeMap<>();
        environment.forEach((name, value) -> {
            boolean isNumber = NUMBER.matcher(value).matches() || name.equals("RANK") || name.equals("WORLD_SIZE");
            if (isNumber && !name.startsWith("SLURM_") && HINT.matcher(name).matches() || name.equals("TF_CONFIG")) {
                hints.put(name, value);
            }
        });
        String tasks = environment.get("SLURM_NTASKS");
        String task = environment.get("SLURM_PROCID");
        // The script of a job has task 0, whatever srun would start.
        if (isStep || task != null && !task.strip().equals("0")) {
            Stream.concat(SLURM_STEP.stream(), Stream.of("SLURM_PROCID", "SLURM_NTASKS"))
                    .filter(environment::containsKey)
                    .forEach(name -> hints.put(name, environment.getOrDefault(name, "")));
        }
        if (!hints.isEmpty()) {
            throw new IllegalArgumentException("environment: found " + shown(hints) + ", expected a rank and a world"
                    + " size, such as RANK and WORLD_SIZE: set both, or pass rank and world size. One of several"
                    + " processes would otherwise read all samples");
        }
        if (tasks != null && !tasks.strip().equals("1")) {
            LOG.log(Level.WARNING, "found SLURM_NTASKS={0}, but this process is no task of a step: it is rank 0 of 1"
                    + " and reads all samples; start it by srun to have {0} ranks", tasks);
        }
        return new Shard(0, 1, tail);
    }

    private static String shown(Map<String, String> environment, String[] names) {
        SortedMap<String, String> values = new TreeMap<>();
        for (String name : names) {
            String value = environment.get(name);
            values.put(name, value == null ? "(not set)" : value);
        }
        return shown(values);
    }

    private static String shown(SortedMap<String, String> values) {
        List<String> all = new ArrayList<>();
        values.forEach((name, value) -> all.add(name + "=" + value));
        return String.join(", ", all);
    }
}
