#!/bin/sh
# Generates the clips of the demo films: moving gradients and a chord, with a title that says so. Run it in this folder
# with FFmpeg (libvpx, libopus, libfreetype) on the path. The clips are not made from any film.
set -eu
font=${FONT:-/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf}

clip() { # name, heading, two colours, the three tones of the chord in Hz
  ffmpeg -hide_banner -loglevel error -y \
    -f lavfi -i "gradients=s=320x180:r=12:d=6:c0=$3:c1=$4:nb_colors=2:speed=0.03:seed=7" \
    -f lavfi -i "aevalsrc='0.12*(sin(2*PI*$5*t)+sin(2*PI*$6*t)+sin(2*PI*$7*t))*min(1,min(t,6-t))':d=6:s=48000" \
    -vf "drawtext=fontfile=$font:text='Generated for the demo,':fontcolor=white:fontsize=21:x=(w-tw)/2:y=14,\
drawtext=fontfile=$font:text='not a scene of the film':fontcolor=white:fontsize=21:x=(w-tw)/2:y=40,\
drawtext=fontfile=$font:text='$2':fontcolor=white:fontsize=26:x=(w-tw)/2:y=82" \
    -c:v libvpx-vp9 -pix_fmt yuv420p -b:v 0 -crf 46 -deadline good -cpu-used 1 -row-mt 0 -threads 1 -g 24 \
    -c:a libopus -b:a 16k -ac 1 \
    -fflags +bitexact -flags:v +bitexact -flags:a +bitexact -map_metadata -1 "$1.webm"
}

clip action "Action" 0x7a1f1f 0xd9822b 110 164.8 220
clip adventure "Adventure" 0x1f4d3a 0xc7a53a 146.8 220 293.7
clip comedy "Comedy" 0xb5651d 0xd94f70 196 246.9 293.7
clip drama "Drama" 0x2b3a67 0x7a5c8e 130.8 155.6 196
clip science-fiction "Science fiction" 0x0b2545 0x2f9c95 98 146.8 233.1
clip thriller "Thriller" 0x1c1c1c 0x5b2333 103.8 123.5 155.6
