// SPDX-License-Identifier: Apache-2.0
/** Local files: opens regular files only, checks names, and finds a file while a writer moves it. */
@NullMarked
package io.penstock.io.file;

import org.jspecify.annotations.NullMarked;
