// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Tests in two threads of this process; a task may fail three times. */
abstract class LocalSpark {

    static SparkSession spark;

    @BeforeAll
    static void start() {
        spark = SparkSession.builder().master("local[2,4]").config("spark.ui.enabled", false)
                .config("spark.sql.shuffle.partitions", 3).getOrCreate();
    }

    @AfterAll
    static void stop() {
        spark.stop();
    }
}
